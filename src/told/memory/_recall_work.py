"""The words of software work: what a prompt calls one thing, a memory often calls another.

One line is one topic. `*` stands for any ending, `_` joins the words of a phrase; a word may stand in
several topics and then says less about each of them.
"""

from __future__ import annotations

WORK = """
commit: commit* committ* git_add amend stage_changes checkin check_in conventional_commits
  commit_message squash einchecken commiten valider_les confirmar_cambios 提交 コミット gitmoji signed_off
  sign-off
pull-request: pr prs mr mrs pull_request pull_requests merge_request merge_requests draft_pr
  reviewer* code_review codereview base_branch next_branch pull-request* 合并请求 プルリクエスト
push: push pushes pushing pushed force_push force-push remote upstream origin pushen pousser 推送 プッシュ
branch: branch* main master trunk develop rebase* merge merges merging merged cherry-pick cherrypick
  worktree feature_branch base_branch zweig rama ramo 分支 ブランチ squash hotfix*
release: release* publish* tag tags tagged version* changelog* semver calver bump bumping rollout
  neue_version new_version next_version version_number versionsnummer 2.0 major minor patch_release
  nouvelle_version nueva_versión nova_versão release_notes launch* ship ships shipping shipped
  freigabe veröffentlich* publier publicar lanz* lançar 发布 リリース cut_a go_live app_store play_store
  testflight signed signing notaris* notariz* store_listing
deploy: deploy* ship shipping shipped rollout roll_out go_live prod production produktion*
  ausliefern auslieferung online_stellen live_schalten live_gehen auf_prod auf_den_server
  neue_version einspielen freischalten wartungsfenster on_friday friday_afternoon live_system
  release_workflow staging rollback roll_back promote canary blue-green freeze ausroll* einspiel*
  livegang hochlad* mettre_en_ligne déploy* despleg* implant* subir_a 部署 デプロイ 上线 downtime
  maintenance_window kubectl argocd helm vercel netlify
rollback: rollback* roll_back revert* undo backout restore zurückroll* rückgängig annuler deshacer
install: install* npm pnpm yarn bun pip uv poetry pipenv conda mamba pdm cargo brew apt gem composer
  lockfile* package_manager dependenc* package packages paket pakete library libraries bibliothek*
  lib libs node_modules package.json requirements.txt pyproject.toml add_the_package upgrade* bump
  bumping outdated vendoring vendored abhängigkeit* dépendance* dependenci* dependênci* instal* 安装
  依赖 インストール 依存 npx bunx pnpx import_error modulenotfounderror cannot_find_module no_module_named
  third-party_package pin pins pinned pinning
test: test* pytest unittest jest vitest mocha spec specs junit rspec ceedling unity gtest ctest
  testlauf testfall testfälle testabdeckung durchlaufen run_the_suite run_everything unit_test
  unit_tests host_test snapshot_test* cypress playwright selenium coverage fixture* mock mocks
  mocking mocked stub stubs assert* tdd regression green red_again flaky suite test_suite prueba*
  teste* essai* tester getestet 测试 テスト doctest
e2e: e2e end-to-end end_to_end browser_test* browser_tests playwright cypress selenium puppeteer
  headless integration_test* integration_tests ui_tests ui_test smoke smoke_test acceptance
  webdriver* chromium
flaky: flaky flake flakes intermittent* sometimes_fails once_in_a_while sporadic* sporadisch race
  nondeterministic non-deterministic retry retries collide* worker workers parallel shuffl* seed
ci: ci pipeline pipelines workflow workflows github_actions gitlab_ci jenkins* circleci buildkite
  runner runners actions build_server nightly_build red_pipeline build_is_red job_failed
  required_check*
build: build builds building built compile* compiles compiling compiler cmake make makefile ninja
  übersetzen kompiliert baut baue wie_baue how_do_i_build how_to_build make_target gradlew gradle
  maven meson bazel webpack vite esbuild rollup tsc gcc clang linker link_error linking toolchain
  preset* bauen kompilier* compilar 编译 构建 ビルド xcodebuild cargo_build bundl* artefact* artifact*
warning: warning warnings werror -werror -wall -wextra -wconversion pragma suppress* silence* noqa
  eslint-disable ts-ignore nolint type_ignore deprecat* [-w* -w* lint_error
bugfix: fix fixes fixed fixing bugfix* bug bugs off_by_one off-by-one regression* patch hotfix*
  geht_nicht funktioniert_nicht kaputt klappt_nicht not_working doesn't_work stopped_working
  ne_marche_pas no_funciona não_funciona falsch wrong broken broke beheb* fehler repar* corrig*
  corrij* réparer 修复 バグ 修正 typo wrong_result defect*
crash: crash* hard_fault* hardfault* segfault* segmentation panic* exception* traceback stacktrace
  hängt_sich 500 internal_server_error fehlermeldung weißer_bildschirm leere_seite empty_page
  keeps_restarting restart_loop killed stack_trace abort* stürzt absturz dies died dead hang hangs
  hung freez* frozen stuck oom plant* se_cuelga trava 崩溃 クラッシュ overflow* blows_up core_dump
  white_screen blank
style: format* formatter* prettier black ruff biome clang-format gofmt rustfmt lint* eslint flake8
  indent* reindent re-indent tabs spaces braces brace allman quotes semicolon* line_length
  whitespace tidy* style styleguide style_guide code_style einrück* formatier* sangr* mess
  trailing_comma pep8 line_width leerzeichen isort import_order sort_imports
naming: name names named naming rename* prefix* suffix* camelcase snake_case kebab-case pascalcase
  heißt heißen variable variables variablen bezeichnung* englisch english_names identifier_language
  new_class new_function klassennamen identifier* bezeichner benenn* benannt nombre* nommer nomes 命名
  名前 function_names call_it public_function
comment: comment comments docstring* kommentar* commentaire* comentario* comentário* 注释 コメント jsdoc
  todo_comment explain_in_code code_comments
docs: docs documentation readme* wiki guide guides tutorial* handbook manual doku* dokumentation
  anleitung handbuch beschreibung onboarding_guide write_up erklärtext documentation_for rustdoc
  javadoc documentar documenta* document documented changelog* release_notes mkdocs sphinx
  docusaurus 文档 ドキュメント adr how-to howto api_reference
refactor: refactor* cleanup clean_up cleaning restructure* reorganis* reorganiz* extract split_up
  simplif* modernis* modernize* modernise rewrite* rewriting convert* converting port_it move_to
  umbau* aufräum* umschreib* nettoy* reescrib* 重构 リファクタ small_cleanup tidy hooks class_component*
  legacy
generated: generated generate* generation codegen gen generator openapi* swagger protobuf proto
  protoc graphql_codegen client_types types_for api_types hand_edit* edited_by_hand by_hand
  do_not_edit autogenerated stub_files generier* sdk bindings
migration: migrat* schema* alembic flyway liquibase drizzle* prisma* knex ddl alter_table add_column
  migrieren umbenennen pflichtfeld new_model model_field add_a_field extra_field store_the store_a
  attribute nullable default_value data_model datenmodell modelo drop_column column columns
  new_table table tables backfill* makemigrations spalte* feld columna* colonne* new_field add_field
  field tabelle* rename_column not_null foreign_key sql_file 迁移 テーブル
database: database* db dbs postgres* mysql mariadb sqlite mongo* oracle sql query queries table
  bigquery snowflake redshift athena warehouse query_cost where_clause abfrage abfragen n+1
  select_related prefetch* eager lazy_load* explain_analyze vacuum deadlock* requête* consulta*
  consultas tables psql pg orm select row rows transaction* index indexes join joins datenbank*
  base_de_datos banco_de_dados 数据库 データベース econnrefused 5432 3306 27017 6379 connection_pool pool
  pgbouncer replica*
local-database: local_postgres local_database econnrefused 5432 5433 docker_compose compose
  localhost 127.0.0.1 connection_refused could_not_connect port ports listens listening
slow: slow slower slowly slowness sluggish* performance performant perf latency laggy lag lags speed
  ewig hängt hakt ruckelt spinner loading_forever loads_forever takes_so_long long_time zu_lange
  tarde_mucho trop_long ladezeit ladezeiten geschwindigkeit schneller beschleunig* große_liste
  crawls unusable_for_large scale scales scaling speedup faster fast profil* benchmark* bottleneck*
  timeout timeouts takes_ages takes_forever takes_long hang* optimi* n+1 langsam* träge dauert lent
  lento lenta lentid* rendimiento 慢 遅い measured heavy big_data_set many_rows load_test* throughput
  p95 p99 fps frame_rate stutter* ruckel* jank*
memory-use: memory_leak leak leaks leaking ram heap oom out_of_memory malloc alloc* allocation* gc
  kernel_dies killed_process eats_all not_enough_memory out_of_ram swap swapping garbage footprint
  speicher* memory_usage memoria rss buffer* dynamic_allocation stack_size new_buffer
  array_on_the_heap pvportmalloc calloc
secret: secret* key keys credential* password* passwort* api_key api_keys apikey api-key key_file
  zugang zugänge api_token auth_token service_account kubeconfig vaultwarden in_plain_text
  im_klartext hardcode* hard-code* hard-coded env_file .env .env.local dotenv vault doppler sops
  1password ssm secrets_manager token tokens where_do_i_put private_key zugangsdaten geheim*
  schlüssel contraseña* clave senha* 密码 密钥 秘密 パスワード env_var env_vars environment_variable* keychain
  keystore bitwarden access_key
auth: auth authentication authenticat* login logins log-in log_in logged_in logging_in signin
  sign-in sign_in signup sign_up session sessions nextauth clerk auth0 keycloak okta cognito jwt
  oauth oidc sso saml password_reset 2fa mfa cookie cookies anmeld* einlogg* angemeldet eingeloggt
  abgemeldet logout log_out logged_out signed_out connexion se_connecter inici* sesión entrar 登录
  ログイン identity passkey*
permission: permission* role roles rbac acl forbidden 403 unauthorized 401 admin admins sehen_darf
  darf_sehen fremde_daten other_users_data andere_mandanten nur_admins admins_only read-only
  readonly lesezugriff schreibrechte access_right* access_rights may_see can_see allowed_to
  see_each_others berechtig* recht rechte zugriff* permiso* permiss* droits 权限 権限 superuser staff
  viewer visible_to row-level row_level rls
tenant: tenant* multi-tenant multitenant row-level row_level rls workspace organisation_id org_id
  mandant* customers_data data_of_another other_customer* sees_data isolation isolated account_id
api: api apis endpoint* rest route routes router controller* handler* request requests response*
  fetch_from call_the_api client_library sdk_client http_client soap json_api payload anbindung
  integrat* integration schnittstellen payload* header headers status_code json_body pagination*
  paginate* cursor openapi* swagger graphql grpc trpc schnittstelle* rota rutas 接口 エンドポイント resource
  query_param versioned v1 v2 backend
webhook: webhook* callback* event_id idempoten* twice two_times double_charge* charged_twice charged
  duplicate* delivered_twice ran_again runs_again redeliver* retry retries out_of_order doppelt
  zweimal deux_fois dos_veces duas_vezes dedup* at-least-once replay* replays stripe
queue: queue* kafka rabbitmq sqs nats pubsub worker workers job jobs celery sidekiq bullmq
  background consumer* producer* dead_letter task_queue warteschlange* cola fila topic topics
  partition* broker
schedule: cron crontab schedul* nightly daily hourly every_night every_day every_second every_hour
  every_monday every_week weekly monthly jeden_montag jede_woche jeden_monat once_a_day once_a_week
  trigger_it_automatically automatisch automatically periodic* timer timers interval* nachts
  nächtlich* täglich* zeitplan recurring airflow dagster prefect dag dags job jobs batch programm*
  agend* 定时 blink* tick ticks heartbeat uplink poll polling
time: time_zone* timezone* tz utc gmt dst summer_time daylight timestamp* datetime date dates
  hour_off hours_off stunde_verschoben an_hour_late an_hour_early wrong_hour wrong_time
  falsches_datum falsche_uhrzeit monatsende quartal quarter jahreswechsel new_year leap february
  date-fns moment dayjs luxon calendar* day_early day_late wrong_day wrong_date deadline* due
  due_date due_dates midnight zeitzone* datum fälligkeit* frist* fuseau fecha* fuso hora uhrzeit
  sommerzeit 时区 タイムゾーン today yesterday clock clocks rtc iso_8601 locale month_end
money: money amount* price* pricing cent cents currency currencies decimal* float floats double
  doubles bigint integer_cents discount* rabatt total totals subtotal sum betrag* beträge preis*
  geld prix montant* importe* precio* preço* valor 金额 金額 fee fees tariff* fare fares credit
  credit_note* one_cent penny rounding
rounding: round* rounding half-up half-even bankers per_line on_the_total one_cent rundung* gerundet
  runden arrond* redonde* arredond* 四舍五入 cent_off truncat* positions total totals decimal_places
  precision
tax: tax taxes vat mwst ust umsatzsteuer* sales_tax iva tva gst steuer* impuesto* imposto* taxa
  accountant tax_office finanzamt net gross netto brutto 税 消費税 deductible reverse_charge per_line
invoice: invoice* invoicing bill bills billing billed receipt* rechnung* beleg* facture* factura*
  zahlungsziel zahlungserinnerung dunning_letter past_due invoice_pdf e-rechnung xrechnung zugferd
  fatura* credit_note* gutschrift* line_item* positions finalis* dunning mahn* overdue unpaid paid
  gapless numbering number_range invoice_number* rechnungsnummer* gap gaps 发票 請求書
numbering: numbering gapless gap gaps hole sequence sequences sequential consecutive number_range
  invoice_number* nummernkreis* fortlaufend* lückenlos* lücke numeración skipped_number
  missing_number
payment: payment* pay pays paying charge charges charged charging stripe paypal adyen mollie sepa
  zahlung zahlungen bezahlt bezahlen eingezogen einzug mandat lastschriften payment_provider
  payment_failed card_declined sca 3ds iban checkout refund* card cards credit_card subscription*
  plan plans lastschrift zahl* zahlung* überweis* pago* pagos paiement* pagament* cobr* 支付 決済
  chargeback* direct_debit payout* bank bank_account dunning
mail: mail mails email emails e-mail e-mails smtp postmark sendgrid mailgun ses resend newsletter*
  verschicken anhang anhänge attachment* absender empfänger sender recipient* pièce_jointe adjunto*
  anexo* zustell* deliver* undelivered inbox mailbox spam notification* notify benachrichtig*
  versand verschick* correo* courriel* 邮件 メール letter brief briefe bounce bounced subject_line
  reply-to
sms: sms text_message* twilio whatsapp phone_number* push_notification* push-notification*
pdf: pdf pdfs puppeteer weasyprint wkhtmltopdf reportlab renderer receipt print printing printout
  druck* ausdruck* imprim* letterhead blank_page page_break
export: export* download* csv excel xlsx spreadsheet* semicolon* delimiter* bom encoding umlaut*
  tabellenkalkulation openoffice libreoffice numbers_app trennzeichen sonderzeichen zeichensatz
  kodierung separador séparateur weird_characters strange_characters columns_are_off utf-8 garbled
  mojibake herunterlad* télécharg* descarg* 导出 エクスポート datev special_characters
import: import* upload* ingest* csv parse parser parsing einles* importier* bulk file_upload
  hochlad* importar load_the_file 导入 インポート
i18n: i18n l10n locali* translat* language languages locale locales german english french spanish
  deutsch deutsche deutschen englisch englische francés français español português polish italian
  texte übersetzung in_german auf_deutsch auf_englisch locale_file translations.json portuguese
  japanese sprache* übersetz* traduc* traduz* 翻译 翻訳 gettext strings string_table po_file wording
  formal du sie siezen vouvoy* spelling british american umlaut*
copy: copy wording text_for texts label labels button_text microcopy empty_state heading headline*
  title titles sentence_case title_case capital* spelling british american tone tonfall formulier*
  phrase phrasing error_message* error_text placeholder tooltip siezen duzen anrede formal texto
  textos libellé* ui_copy button_label greeting voice message_to_the_user customer_facing
  customer-facing
ui: ui frontend front-end component* button* screen screens modal* dialog* dropdown toggle* switch
  anzeigen ausblenden einblenden ansicht ansichten liste eingabefeld auswahl reiter feld felder
  afficher masquer mostrar ocultar vista vistas exibir esconder popup pop-up banner badge spinner
  drag_and_drop responsive mobile_view checkbox form forms input list_view grid table_view react vue
  svelte angular css tailwind layout style_the sidebar navbar menu tab tabs icon icons card
  interactive server_component* use_client hide hides show_hide tooltip seite knopf schaltfläche*
  oberfläche* maske formular* botón pantalla bouton écran tela botão 按钮 页面 ボタン 画面 hook hooks
  usestate leaves widget widgets tsx jsx
state: redux zustand mobx pinia vuex tanstack react_query usestate local_state server_state
  global_state the_state selected remember_the_filter keep_the_filter toggle* context_provider
  signal signals
theme: theme dark_mode dark light_mode colour colours color colors palette contrast accessibility
  a11y aria wcag font fonts design_token* brand logo logos icon icons
asset: logo logos icon icons image images binary binaries picture* svg png jpg design_repo figma
  asset assets sprite* texture* font fonts media bild bilder 图片 画像 git_lfs lfs large_file*
feature-flag: feature_flag* feature-flag* flag flags switch behind_a toggle_for launchdarkly unleash
  posthog rollout only_a_few few_people percent_of beta_users a/b ab_test* experiment kill_switch
  gradually schrittweise bandera for_some_users
logging: log logs logging logger* logged print prints printf println console.log structlog loguru
  protokollier* mitloggen log_file logfile logfiles stdout_logs ausgabe ausgaben log_statement
  request_id correlation* winston pino trace traces debug debug_print* debug_prints rtt uart stdout
  sentry log_level verbose protokoll* loggen journal 日志 ログ registrar syslog
monitoring: sentry datadog grafana prometheus alert alerts alerting monitor* metric metrics
  dashboard* on-call oncall pager* incident* tracing opentelemetry rollbar uptime errors_go
  error_report* slo observab* crash_report* crashlytics
error-handling: error errors exception* raise throw catch result_type error_code errno retry unwrap
  unwrap() expect() result_ try_except bare_except panics panicking fehlercode rückgabewert
  fehlerbehandlung swallow* panic expect try early_return* nested_if* guard_clause* anyhow thiserror
types: type types typing typescript ts typed any mypy pyright strict type_hint* annotation*
  unknown_type as_any cast casting generics interface zod pydantic
export-style: default_export* default_exports named_export* named_exports barrel index.ts
  module_export
docker: docker* container* image img base_img base_image alpine bookworm slim slimmer distroless
  abbild basisimage base_layer entrypoint healthcheck volume volumes dockerfile compose podman
  kubernetes k8s helm pod pods registry imagen 镜像 コンテナ node_image
infra: terraform tofu pulumi ansible cloudformation infra infrastructure iac aws gcp azure hetzner
  node nodes disk volume volumes cloud hosting ovh lambda serverless ec2 rds cloudfront state_lock
  drift import_the_resource tf destroy destroyed s3 bucket buckets vpc subnet* dns load_balancer
  nginx caddy traefik ingress plan_and_apply apply state_file tfstate provision* cluster clusters
  node_pool region regions eu-central* machine_type server servers vm instance instances firewall
  security_group* autoscal*
kubernetes: kubernetes k8s kubectl helm pod pods namespace* replica replicas cluster clusters
  pending oomkilled evicted liveness readiness probe probes rollout_restart sidecar service_mesh
  istio hpa node_pool crashloop* crashloopbackoff deployment ingress kustomize configmap cpu_limit*
  memory_limit* argocd flux
certificate: certificate* cert certs tls ssl https letsencrypt acme expired zertifikat* certificado*
  x509 handshake hsm signing sign signed
backup: backup* restore* dump dumps pg_dump snapshot* snapshots sicherung* disaster wiederherstell*
  copia_de_seguridad lost_data delete_the_data retention archiv* glacier
delete: delete* remove* drop drops dropping truncate* purge* wipe* soft_delete* soft-delete*
  clear_the clear_out throw_away wegwerfen weg_damit gelöscht tombstone* archive_it hard_delete*
  lösch* entfern* supprim* borrar elimin* apagar 删除 削除 clean_out get_rid deleted_at gdpr right_to_be
privacy: gdpr dsgvo personal_data pii privacy anonymi* pseudonymi* datenschutz* retention consent
  send_the_csv send_the_list send_them_the share_with email_list customer_names customer_ids
  names_and_emails hash_the_ids hashed_ids pseudonym* external_party personal personendaten
  klarnamen echte_daten echtdaten real_customer* real_customers anonymous export_of_users
  log_the_user auskunft löschfrist* löschkonzept user_data personenbezogen* rgpd lgpd sensitive
  customer_data real_names real_data production_data dump_of_prod names_in email_addresses
  share_the_data
environment: node_version nvm .nvmrc nvmrc pyenv python_version python3 node_1* node_2* runtime
  conda_env kernel_spec virtual_environment which_python python_3 lock_file reproducible_environment
  environment.yml version jdk java_version java go_version rust_version toolchain asdf mise
  engine_unsupported unsupported_engine interpreter venv virtualenv
ports: port ports address_already eaddrinuse in_use localhost listens listening econnrefused
  connection_refused 3000 8000 8080 5173
run-local: run_it start_the start_it dev_server devserver locally run_locally spin_up launch_the
  boot_up starten lokal start_up localhost npm_run_dev make_dev how_do_i_run how_do_i_start
  up_and_running set_up setup onboarding bring_up
third-party: third_party third-party vendor vendored upstream submodule* fork forked external
  external_code
search: search* elasticsearch opensearch meilisearch typesense solr algolia full-text full_text
  fuzzy suche* buscar recherche* 搜索 検索 trigram
cache: cach* redis memcached stale old_data cdn invalidat* ttl zwischenspeicher* outdated_page
  veraltet veraltete alte_version old_version hard_refresh clear_the_cache leeren
  still_shows_the_old etag varnish purge
concurrency: race race_condition thread* mutex lock locks locking deadlock* concurren* parallel*
  parallelisier* nebenläufig* zwei_nutzer two_users two_people zur_gleichen_zeit lost_update
  overwrite overwrites overwritten überschreib* async await asyncio goroutine* semaphore* atomic
  transaction* simultaneous* same_time at_the_same gleichzeitig* select_for_update isolation_level
  worker workers event_loop blocking
file-layout: where_does where_should where_do_i_put new_file folder structure directory_structure
  ordner put_this lives_in live_in layout_of module new_module carpeta dossier
config: config* setting settings option options toml yaml yml ini environment_variable* konfigur*
  umgebungsvariable* einstellung* einstellungen parameter parameters configur* 配置 設定 feature_toggle
  default_value
cli: cli command_line command-line subcommand* flag flags argparse click typer clap cobra stdout
  option_name long_option short_option shell_completion completions piped pipe tty colour_output
  progress_bar stderr exit_code exit_codes --help --json help_text usage
answer: answer* reply respond* explain* explanation* summar* summary trade-off* tradeoff* bullets
  bullet briefly concise pros_and_cons compare comparison versus options which_one antwort* erklär*
  erkläre réponse* respuesta* resumen recommend* what_do_you_think should_we_use overview
dependency-choice: which_library library_for lib_for package_for use_instead alternative_to
  parse_dates date-fns lodash axios zod
security: security secure vulnerab* cve xss csrf sql_injection injection sanitiz* sanitis* escape
  sicherheitslücke* exploit brute_force rate_limiting upload_filter sanitise input_validation cors
  csp escaping encrypt* verschlüssel* hash hashing bcrypt argon2 sicherheit* penetration audit
  readout protect* rdp attack* leak leaked signature* trust
access-prod: production_database prod_database prod_db against_prod against_production by_hand ssh
  psql_prod production_data live_database live_db on_prod in_prod connect_to_prod
seed: seed seeds seeding fixtures demo_data test_data sample_data dummy_data testdaten
  datos_de_prueba performance_check* test_account* test_user
ticket: ticket* jira linear issue issues sprint board backlog story epic tracker redmine youtrack
  ticketnummer story_points issue_number aufgabe_anlegen
""".strip()
