"""The words of the fields that software is written for, in the form of `_recall_work`."""

from __future__ import annotations

TRADES = """
training: train* training trained retrain* fit fits fitting epoch* learning_rate hyperparam* tune
  retraining schedule_retraining takes_hours training_run class_weights balance_the num_leaves
  n_estimators max_depth n_jobs cpu_cores grid_search cross_val* lernrate overfit* underfit* loss
  gradient* convergence gbm hyperparameter trainieren entrenar entraîn* entrena* tuning optuna
  xgboost lightgbm catboost sklearn pytorch tensorflow keras gpu cuda model models modell* baseline*
  checkpoint finetun* fine-tun* regulari* early_stopping 训练 学習 random_forest boosting classifier*
  regressor* neural
evaluation: auc f1 accuracy precision recall logloss rmse mae mape metric metrics evaluat* how_well
  cutoff_for which_threshold cut-off decision_threshold precision_at recall_at capture_rate decile
  imbalanced score_dropped worse_than good_enough report_the_numbers headline_metric success_metric
  wie_gut better_than besser_als improvement improves beats uplift performance_of_the_model kpi
  validation holdout hold-out cross-validation cv fold folds score scores scored test_set
  offline_metric lift calibrat* brier confusion_matrix threshold* how_good leaderboard pr_auc
  top_decile roc benchmark_set eval
split: split splits train_test time-based time_based leak* leakage holdout shuffl* stratif*
  too_good_to_be_true way_too_good almost_perfect nearly_perfect 0.99 jumped jump_in backtest*
  out-of-time out_of_time future after_the_event snapshot_date observation_window as_of
  point-in-time point_in_time group_split future_data look_ahead lookahead random_split temporal
  too_good suspiciously target_leak* kfold cutoff cut-off
features: feature features feature_store column columns encod* one-hot categor* embedding* impute*
  -1 sentinel placeholder_value fill_in blanks empty_values drop_rows which_columns
  available_columns derived tenure recency frequency aggregate_by new_feature_from derived_column
  aggregate* rolling window lag_feature ratio categorical high_cardinality imputation missing
  missing_values nan nans null nulls fillna normalis* normaliz* scaler scaling target_encoding
  variable variables predictor* merkmal* outlier* winsor*
label: label labels labelled labeled target churn* churned definition_of annotat* ground_truth
  left_us leavers customers_who_left stopped_paying inactive paused downgrade* definition retention
  days_without class_imbalance imbalance* oversampl* smote class_weight* cancel* cancelled gekündigt
  kündig* attrition
notebook: notebook* jupyter ipynb colab marimo nbstripout cell cells output outputs papermill kernel
  kernel_dies restart_and_run nbconvert jupytext clear_output huge_json notebook_diff
  import_from_notebook clean_the_notebook strip_output diff_is_huge huge_diff explorat* cell_output
  scratch
plot: plot plots plotting chart charts figure figures graph graphs histogram* matplotlib seaborn
  deck presentation slide_deck for_the_report figure_for colourblind color-blind dpi png_export
  savefig brand_colours title_of_the_chart balkendiagramm kurve curve schaubild visualis* slide
  slides report_figure plotly altair colour_map colormap axis axes legend visuali* diagramm* gráfic*
  grafik heatmap bar_chart dashboard
dataframe: pandas polars dataframe* df spark pyspark duckdb parquet feather arrow csv groupby
  slow_join groupby_apply iterrows vectoris* vectoriz* lazy_frame big_csv chunksize
  doesn't_fit_in_memory read_csv to_csv merge_on read_parquet merge_the join_the dask sql_query
  data_file datenrahmen
data: dataset* data_set sample samples sampling warehouse bigquery snowflake redshift raw_data etl
  load_the_data where_is_the_data where_does_the_data data_folder read_only read-only raw_folder
  s3_path gcs parquet_files upstream_table cost_of_the_query scan scanned bytes_billed
  expensive_query partition_filter dry_run csv_file rohdaten datensätze data_quality stale_data
  reload refresh elt dbt ingest* pipeline* duplicate* dedup* data_dictionary datensatz daten 数据 データ
  snapshot freshness backfill*
experiment: experiment* mlflow wandb tracking run_name runs tracked neptune comet tensorboard
  different_each_time different_every_time differs_each_run not_reproducible can't_reproduce
  cannot_reproduce same_numbers rerun re-run compare_runs compare_the_runs which_run
  hyperparameters_of random_seeds numpy_seed log_params tracking_server registry model_registry
  log_the_run reproducib* seed random_state random_seed same_result* artefact*
serving: serving inference predict* prediction* score_the batch_scoring online endpoint latency
  score_all nightly_scores scoring_run put_the_model promote_the model_in_production
  replace_the_model new_model old_model model_version rollback_model approval_for_the_model
  feature_drift data_drift model_server deploy_the_model champion challenger shadow drift monitor*
  retrain_when production_model onnx quantis* quantiz* prediction_api scoring
fairness: fairness bias biased gender age postcode zip_code protected attribute* explainab* shap
  allowed_to_use sensitive_attribute* discriminat* sex nationality ethnicity explain_a_prediction
  why_did_the_model lime interpretab* importance feature_importance
llm: llm prompt prompts gpt* claude gemini openai anthropic token tokens context_window rag
  hallucinat* system_prompt few-shot max_tokens model_name eval_set guardrail* embedding* chatbot
  completion* temperature ollama mistral llama agent agents tool_call*
gpu: gpu gpus cuda vram a100 h100 cluster slurm batch_size out_of_memory mixed_precision fp16 bf16
  training_box shared_machine reserve_the_machine kernel_dies killed_by run_it_on training_machine
interrupt: interrupt* isr isrs irq irqs nvic handler exti interrupt_handler* semaphore defer
  deferred data_ready 中断 割り込み critical_section masked
sleep: sleep* idle standby stop_mode deep_sleep low-power low_power power_consumption consumption
  wakes_up energy_saving stromspar* battery_drain drains_the_battery power_budget current draws draw
  drain* microamp* ua µa uamp ma milliamp* battery batteries quiescent floating gpio gpios wake
  wakeup ruhestrom stromverbrauch battery_life
battery: battery batteries akku* voltage volt volts brown-out brownout sags lithium cell charge
  charging charger power_supply supply transmission cold low_temperature batterie reset resets
  spannung*
sensor: sensor* adc i2c spi uart bus temperature temp thermistor accelerometer imu gyro pressure
  noisy noise messfehler wrong_values implausible offset_error humidity probe probes pins pin pinmux
  driver drivers lidar camera calib* messwert* reading readings
pulse: pulse pulses debounc* bounce bounces contact contacts reed encoder quadrature counts
  double_count* prell* counter tick ticks
radio: radio lora lorawan ble bluetooth zigbee wifi modem nbiot lte gsm uplink* downlink* packet
  lost_packets packet_loss reconnect* pairing advertis* gateway_down signal_strength packets antenna
  receive_window rx tx transmit* send sends airtime duty_cycle rssi payload gateway mesh funk* air
byte-order: endian* big-endian little-endian byte_order swapped byte-swapped byte_swap msb lsb htons
  htonl network_order on_air wire_format bytes byte reversed_bytes
firmware-size: flash flash_size image image_size binary_size firmware_size kb too_big too_large fits
  fit slots slot a/b ota map_file linker_script section bootloader partition size text_size bloat*
  update_slot*
flash-write: flash_write* flash_writes persist* non-volatile nonvolatile nvm eeprom littlefs
  remember_after_reboot reboot_loses lost_after_reboot after_power_loss persistent persistence
  remember_the settings_lost survives survive power_loss power_cycle saves saving save stored store
  record records wear_level* page_erase retain after_a_reset fram settings_storage stall stalls
  deadline
watchdog: watchdog* wdt iwdg kick kicked feed supervisor reset resets reboot* rebooting hang hangs
rtos: rtos freertos zephyr threadx task tasks scheduler priority priorities stack_size starv*
  priority_inversion context_switch deadline_miss* timing jitter stack_overflow queue
  software_timer* timer_callback* tick_rate mutex blink* led leds periodic
stack: stack stack_size overflow* printf %f snprintf recursion stack_overflow task_stack printing
  prints large_buffer
fixed-point: fixed-point fixed_point q16 q15 q31 float floats double doubles fpu kwh energy
  bit-identical bit_identical determinis* integer_math decimal arithmetic gleitkomma soft_float
  compute calculation
allocation: malloc calloc free heap alloc* allocation* dynamic_allocation pool static_buffer
  pvportmalloc linked_list buffer buffers new_buffer growing vector std::vector list_of_unknown
certified: certif* certification* re-certif* misra iso_26262 iec safety safety-critical metrology
  audit auditor compliance regulator* approved approval zulass* zertifizier* deviation* homolog*
  medical_device fda eichrecht
flashing: flash flashing flashed flasher openocd j-link jlink st-link stlink esptool dfu program_the
  upload_the rack serial serials swd jtag debugger debug_probe probe device devices unit units board
  boards bricks brick bricked write_protect* option_bytes rdp readout
board: board boards rev revision revisions hardware pcb schematic* pin pins pinout prototype pilot
  devices platine* layout
signing: signed signing sign signature* dev_key key keys boot boots bootloader secure_boot
  image_signing won't_start wont_start does_not_boot doesn't_boot local_build local_builds hsm
clock: rtc clock clocks drift drifts resync* network_time ntp oscillator crystal lse tick ticks wrap
  wraps rollover overflow* uptime hal_gettick millis timeout* time-out* time-outs deadline* elapsed
serial-number: serial serials serial_number* otp device_id unique_id uid mac_address imei
robot: robot* ros ros2 gazebo urdf lidar slam nav2 arm gripper motor motors servo servos actuator*
  crash_into bumps bump stops_too_late drives drive steering wheel wheels gripper_force joint_limit*
  collision obstacle* point_cloud tf_tree bag bagfile rosbag launch_file trajectory kinematic* joint
  joints emergency_stop e-stop estop teleop simulation simulator real_robot odometry localisation
  localization costmap planner path_planning velocity speed_limit torque
control: pid controller* loop_rate control_loop gain gains setpoint overshoot oscillat* kalman
  filter filters regler* regelung
mobile: ios android iphone ipad flutter react_native swift swiftui kotlin compose apk aab ipa
  back_button navigation screen_rotation dark_mode_on_phone background_task widget_extension
  crashlytics compose_ui jetpack testflight play_store app_store expo gradle xcode simulator
  emulator widget* push_notification* deep_link* permission_dialog minimum_version min_sdk minsdk
  phone phones tablet tablets handy
offline: offline sync syncs syncing synchron* conflict conflicts airplane tunnel no_network
  no_connection verbindung_weg funkloch sin_conexión hors_ligne sem_internet lose_their_changes
  lost_changes without_network no_signal no_internet connectivity queue_up local-first room_database
  core_data realm outbox
app-store: app_store play_store testflight review_rejected rejected submission screenshots
  store_listing privacy_label signing provisioning certificate build_number version_code bundle_id
game: game games unity unreal godot bevy player players enemy enemies sprite sprites scenes physics
  gameplay gravity velocity knockback cooldown* pickup* checkpoint respawn* highscore* leaderboard*
  ui_scale tutorial_level pathfinding navmesh prefab* gdscript collision* hitbox* fps game_loop
  fixed_timestep delta_time save_game savegame savegames save_file* balancing difficulty spawn* loot
  quest dialogue npc multiplayer netcode lobby spielstand* gamepad shader* texture* particle*
  animation* tile tiles tilemap weapon* damage inventory physics_step
netcode: multiplayer netcode latency rollback_netcode desync* server_authoritative authoritative
  out_of_sync rubber_band* teleport* jitter snapshot_interpolation client_side_prediction lag lobby
  matchmaking cheat* determinis* lockstep peer
save-game: savegame* save_game* save_file* saves saved_games progress lost_progress old_saves
  spielstand* save_format versioned_saves
audio: audio sound sounds music sfx volume wav ogg mp3 mixer playback voice microphone sample_rate
  latency
video: video videos stream* ffmpeg codec* h264 hls dash transcode* thumbnail* subtitle* player mux
  abspielen playback_stops buffering subtitles_are_off bitrate
map: maps geo gps latitude longitude coordinate* coords lat lng lon postgis geojson osm mapbox
  leaflet projection wgs84 epsg distance route routes routing geocod* karte* crs
shop: shop cart carts basket checkout product products sku skus catalog* inventory orders shipping
  kasse gutschein* versandkosten retoure* lagerbestand ausverkauft preisaktion sale_price promo
  promotion* order_number bestellnummer checkout_button cesta warehouse refund* coupon* voucher*
  discount* variant variants warenkorb bestell* artikel lager* tienda pedido* carrinho commande*
  panier produit* 购物车 订单 注文 oversell* sold_out reserve* reservation*
logistics: shipment* parcel* truck* tour tours delivery deliveries depot vehicle vehicles fleet
  lieferzeit eta ladung paletten sendung sendungen zustellung fahrer touren tournée entrega entregas
  reparto camión carrier* tracking_number pallet* freight warehouse pick picking dispatch*
  lieferung* spedition* lieferschein* dock load_planning
booking: booking* reservation* appointment* slot slots calendar* availability overlap* double_book*
  doppelbuchung doppelt_gebucht gleichzeitig_gebucht belegt verfügbar verfügbarkeit reserva reservas
  réservation* overbook* room rooms guest guests hotel check-in check_in cancellation* termin*
  buchung* cita* rendez-vous agendamento
health: patient* doctor* clinic* hospital fhir hl7 dicom icd diagnos* medication* dose dosage befund
  befunde medikament* dosierung rezept rezepte paciente* médico pseudonymous_id prescription* health
  lab_result* hipaa appointment* praxis arzt ärzt* consent vital* allerg*
school: student* teacher* course* lesson* exam exams grade grades quiz school class_list pupil*
  lehrer* schüler* kurs enrol* attendance learning
bank: ledger transfer* iban bic sepa balance balances transaction* posting* double-entry kontostand
  buchungssatz gegenkonto valuta kontoauszug kontoauszüge extrait relevé double_entry debit kyc aml
  statement* camt mt940 konto konten buchung* saldo* überweis* dinero wallet interest loan*
  reconcil* journal_entry
insurance: policy policies claim claims premium* insured versicher* schaden schäden police tarif*
  underwriting
energy: meter meters metering energy kwh tariff grid solar pv inverter consumption reading readings
  stromzähler wärmezähler ablesung* abgelesen zählerwechsel ablesewert* zähler* zählerstand* strom
  verbrauch* load_profile charging_station ocpp ev charger
property: tenant tenants rent rents landlord* lease leases mieter* vermieter* miete mieten wohnungen
  hausmeister mieteingang mietrückstand mieterhöhung* indexmiete staffelmiete wohnfläche
  eigentümerversammlung* beschluss instandhaltung* reparatur* schaden mietvertrag* wohnung*
  apartment* flat flats building buildings gebäude hausgeld nebenkosten* betriebskosten* heizkosten*
  abrechnung* kaution* deposit* eigentümer* owner owners weg hausverwalt* handwerker* schlüssel
  übergabe* einzug auszug kündig* leerstand verteilerschlüssel* umlage* mahnung* vorauszahl*
letter: letter letters brief briefe anschreiben schreiben serienbrief* vorlage vorlagen template
  post brief_an schreib_einen mieterbrief musterbrief höflich* text_an mitteilung* bescheid
  templates anrede salutation siezen sie du formell formal postal einschreiben versand* kuvert
  briefkopf unterschrift* grußformel address_the wording
statement: abrechnung* nebenkosten* betriebskosten* heizkosten* jahresabrechnung* utility
  heizkostenabrechnung umlageschlüssel wohnfläche verbrauchswerte nachzahlung* guthaben
  leerstandskosten utility_bill* settlement* statement statements cost_allocation umlage* umlag*
  verteil* quadratmeter square_met* apportion* vorauszahl* prepayment* annual stichtag
  abrechnungszeitraum
accounting: datev buchhalt* buchung* buchen kontenrahmen skr03 skr04 accountant steuerberater*
  jahresabschluss bilanz kostenstelle* kontieren konto_zuordnen export_an_den_steuerberater
  umsatzsteuer* ledger lexware xero quickbooks bookkeep* booking posting postings gobd festschreib*
  storno* stornier* cancel_the_booking reversal* kassenbuch export_for_the
legal: legal law laws court contract contracts deadline* gesetz* bgb paragraph recht* vertrag*
  rechtlich erlaubt zulässig gesetzlich* verjähr* fristgerecht widerspruch* einspruch*
  form_vorschrift klausel* lawyer* anwalt* notice_period frist* kündigungsfrist* statute*
  rechtssicher* dsgvo gobd aufbewahr* retention
letter-case: uppercase lowercase groß* klein* capital*
unit: metric imperial kg km miles celsius fahrenheit inch inches metres meters millimeter* si_units
science: simulation* solver mesh meshes finite_element numerical tolerance converg* grid timestep
  time_step mpi openmp fortran hpc cluster matrix sparse iteration* residual* precision
bio: genome* gene genes dna rna sequence sequences fastq bam vcf variant variants reads aligner
  alignment sample samples assay* protein* cell_line reference_genome grch38 hg19 hg38 snakemake
  nextflow
compiler: parser parsing lexer token tokens ast grammar grammars type_checker ir bytecode codegen
  llvm error_message* diagnostics span spans syntax
language-lib: public_api api_surface semver breaking breaking_change* deprecat* backward* compatib*
  deprecate_the remove_the_function public_function public_method signature_change break_users
  downstream users_of_the_library msrv minimum_supported no_std feature_gate crate crates wheel
  wheels abi
crawler: crawl* scrap* robots.txt user_agent rate_limit* rate-limit* throttl* politeness spider
  html_parser selector* too_many_requests 429
rate-limit: rate_limit* rate-limit* throttl* 429 too_many quota* quotas backoff burst retry-after
event-sourcing: event_store event_sourcing aggregate aggregates projection projections cqrs replay*
  command_handler
chat: chat slack discord teams bot bots channel channels message messages thread mention
cms: cms content article articles post posts blog wordpress contentful sanity strapi editor slug
  slugs seo sitemap meta_description markdown mdx
browser: browser* chrome safari firefox extension* ie11 polyfill* user_agent service_worker manifest
network: network* tcp udp socket sockets proxy vpn dns latency packet* firewall bandwidth mtu
  websocket* timeout* ipv6 tls
hardware-test: lab bench rack oscilloscope* scope logic_analy* multimeter jig test_jig hil
  hardware_in_the
people: team lead boss colleague* designer* product_owner who_decides who_should who_do_i_ask
  stakeholder_report marketing sales finance product_team send_to hand_over present_to management
  ask_first approve* approval stakeholder* ansprechpartner* zuständig*
""".strip()
