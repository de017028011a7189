"""Which words of this trade stand for the same thing, are alternatives to each other, or share a task.

Three compact tables: words that mean the same (also across languages), slots whose words exclude each
other, and tasks whose words call for each other. One line is one group.
"""

from __future__ import annotations

from told.snapshot import kept

# The first word stands for the others.
_SAME = """
database db dbs databases datenbank datenbanken base bdd banco datos dados 数据库 データベース
repo repository repos repositories repositorio repositório dépôt depot 仓库 リポジトリ
production prod live produktion produccion producción produção 生产 本番
staging stage stg preprod
documentation docs doc doku dokumentation documentación documentação 文档 ドキュメント
config configuration configs settings setting konfiguration configuración configuração 配置 設定
pull-request pr prs mr mrs merge-request pull-requests
test tests testing tested teste testen tests prueba pruebas essais testes 测试 テスト
dependency dependencies deps package packages abhängigkeit abhängigkeiten paket pakete dépendances
  paquetes pacotes dependencias dependências 依赖 依存
install installs installing installed installation installieren instalar installer add adding
  安装 インストール
environment env envs umgebung entorno ambiente
password passwords passwort passwörter contraseña senha kennwort
secret secrets key keys credential credentials geheimnis geheimnisse schlüssel token tokens
comment comments kommentar kommentare commentaire commentaires comentario comentarios comentário
  comentários 注释 コメント
commit commits committing committed commite commitear committe commiten 提交 コミット
message messages nachricht nachrichten mensaje mensajes mensagem メッセージ
function functions func funktion funktionen fonction fonctions función funciones função funções 函数 関数
file files datei dateien fichier fichiers archivo archivos arquivo arquivos 文件 ファイル
folder folders directory directories dir ordner verzeichnis dossier carpeta pasta 目录 フォルダ
branch branches zweig branche rama ramo 分支 ブランチ
port ports puerto porta 端口 ポート
server servers serveur servidor host hosts 服务器 サーバー
customer customers kunde kunden cliente clientes clients
user users nutzer benutzer utilisateur utilisateurs usuario usuarios usuário usuários 用户 ユーザー
total sum summe totals gesamt gesamtbetrag somme suma soma
amount amounts betrag beträge geldbeträge geldbetrag montant montants importe importes valor valores
  money 金额 金額
price prices preis preise prix precio precios preço preços 价格 価格
invoice invoices rechnung rechnungen facture factures factura facturas fatura faturas
indent indentation indenting einrückung einrücken indentación インデント 缩进
line lines zeile zeilen ligne lignes línea líneas linha linhas 行
answer answers reply replies respond response responses antworte antworten antwort répondre réponses
  responde responder respuestas 回答
explain explanation explanations erklärung erklärungen erkläre
short brief briefly concise terse kurz knapp court corto breve
delete deletes deleting deleted löschen löscht löschst lösche supprimer borrar eliminar
  apagar 删除 削除
ask asking asked rückfrage rückfragen approval approve approvals permission fragen frag frage demander
  pide pedir pergunte pergunta
review reviews reviewer reviewers reviewed
deploy deploys deployment deployments deploying deployed déploie déployer desplegar implantar デプロイ 部署
release releases releasing released veröffentlichung sortie lanzamiento
build builds building built bauen
format formatting formatter formatted formats formatieren
lint linter linting lints linters
log logs logging logged loggen protokoll
error errors fehler erreur erreurs error erro erros exception exceptions 错误 エラー
regex regexes regexp regular-expression
admin admins administrator administrators
interrupt interrupts isr isrs
allocate allocation allocates malloc heap
ui surface oberfläche interface benutzeroberfläche
timeout expire expires expiry ttl expiration
limit max maximum most cap höchstens maximal
minimum min least mindestens
import imports importing
export exports exporting
type types typing typed
hint hints annotation annotations
date dates datum daten fecha fechas
time times zeit uhrzeit heure hora
timestamp timestamps zeitstempel
image images picture pictures bild bilder photo photos
migration migrations migrationen
backup backups sichern gesichert sicherung sicherungen
ticket tickets issue issues ticketnummer チケット
number id ids numbers nummer numéro número no. 番号
emoji emojis smiley smileys 表情符号 絵文字
lead leader boss leiter leitung
language sprache langue idioma
request requests anfrage anfragen requête peticiones requisição
job jobs nightly cron
email emails e-mail e-mails mail mails
tenant tenants mieter
rent rents miete mieten
reading readings zählerstand zählerstände
store stored stores storing speichern gespeichert guardan guardar stocker stockés saved save
encrypt encrypted encryption verschlüsselt verschlüsselung
space spaces leerzeichen espacio espacios espaços espaces スペース 空格
tab tabs tabulator tabulatoren タブ
prefix präfix préfixe prefijo
hash hashes hashed hashing
push pushes pushing pushed pusher pushen pousser 推送
merge merges merging merged mergen
rebase rebases rebasing rebased rebasen
squash squashes squashing squashed
mock mocks mocking mocked mocken
translate translated translation translations übersetzt übersetzung
variable variables variablen
name names naming named namen nombre nombres nom noms
column columns spalte spalten spaltennamen colonne columna
table tables tabelle tabellen
sort sorted sorts sorting sortieren sortiert
cache cached caches caching
average averaged averages avg mean mittelwert durchschnitt
model models modell modelle
feature-flag flag flags
endpoint endpoints route routes
"""

# Words of one slot are alternatives: where one is used, another usually is not.
_SLOTS = """
package-manager: npm pnpm yarn bun
python-package-manager: pip uv poetry pipenv conda mamba pdm rye hatch
python-version-manager: pyenv asdf mise
database: postgres=postgresql=pg mysql mariadb sqlite mongodb=mongo oracle mssql=sqlserver cockroachdb
  cassandra dynamodb duckdb clickhouse firestore supabase planetscale neon influxdb
  timescaledb=timescale redis
warehouse: bigquery snowflake redshift databricks clickhouse athena duckdb postgres=postgresql
cache: redis memcached valkey dragonfly
object-store: s3 gcs r2 minio blob glacier ceph backblaze
queue: kafka rabbitmq sqs nats pulsar activemq redpanda pubsub mqtt
job-runner: celery rq dramatiq temporal sidekiq bull bullmq resque huey arq inngest cron
orchestrator: airflow dagster prefect luigi argo kubeflow
search-engine: elasticsearch=elastic opensearch solr meilisearch typesense algolia
test-runner: jest vitest mocha jasmine ava karma tap
python-test-runner: pytest unittest nose nose2
c-test-runner: unity ceedling googletest=gtest catch2 doctest cmocka
jvm-test-runner: junit testng spock kotest
browser-test-runner: cypress playwright selenium puppeteer webdriverio testcafe
bundler: webpack vite rollup esbuild parcel turbopack rspack rsbuild snowpack
formatter: prettier biome dprint black yapf autopep8 ruff clang-format gofmt rustfmt ktlint
linter: eslint biome tslint oxlint standard ruff flake8 pylint pyflakes
type-checker: mypy pyright pyre ty basedpyright
frontend: react vue svelte angular preact solid ember lit alpine htmx qwik
meta-framework: nextjs=next.js nuxt remix astro gatsby sveltekit
mobile: flutter react-native ionic kotlin swift swiftui xamarin capacitor
node-server: express fastify nestjs=nest koa hono hapi
python-server: django flask fastapi starlette tornado sanic litestar aiohttp bottle
php-server: laravel symfony
jvm-server: spring quarkus micronaut ktor dropwizard
state: redux zustand mobx recoil jotai pinia vuex xstate
css: tailwind bootstrap sass scss less bulma emotion styled-components vanilla-extract css-modules
ui-kit: mui chakra antd shadcn radix mantine
orm: prisma drizzle typeorm sequelize knex kysely sqlalchemy peewee tortoise hibernate jooq sqlmodel
validation: zod yup joi valibot ajv pydantic marshmallow attrs
date-library: moment dayjs luxon date-fns temporal arrow pendulum
http-client: axios fetch ky got superagent requests httpx aiohttp urllib urllib3
data-frame: pandas polars dask spark=pyspark duckdb modin vaex
deep-learning: pytorch=torch tensorflow keras jax mxnet
boosting: xgboost lightgbm catboost randomforest
experiment-tracker: mlflow wandb neptune comet tensorboard clearml
metric: auc f1 accuracy logloss rmse mae mape precision recall r2 brier
plot: matplotlib plotly seaborn altair bokeh d3 chartjs echarts recharts highcharts
notebook: jupyter colab marimo quarto
data-file: csv parquet feather avro orc jsonl excel=xlsx
ci: travis jenkins circleci github-actions=actions gitlab-ci drone buildkite teamcity bamboo
  azure-pipelines
code-host: github gitlab bitbucket gitea forgejo codeberg
tracker: jira linear trello asana youtrack redmine shortcut clickup notion github-issues
chat: slack teams discord mattermost zulip telegram
flags: launchdarkly unleash flagsmith growthbook posthog configcat
errors: sentry rollbar bugsnag glitchtip honeybadger airbrake raygun
monitoring: datadog newrelic grafana prometheus zabbix dynatrace splunk nagios
logger: structlog loguru winston pino bunyan log4j logback slf4j zap logrus zerolog serilog console.log
  print println printf
tracing: jaeger zipkin opentelemetry=otel tempo
iac: terraform pulumi cloudformation opentofu ansible cdk chef puppet bicep
container: docker podman containerd buildah nerdctl
kube: helm kustomize nomad kubernetes=k8s swarm docker-compose=compose argocd flux
hosting: vercel netlify heroku fly fly.io render railway hetzner aws gcp azure ovh digitalocean linode
  cloudflare firebase scaleway ionos
secrets: .env .env.local=env.local doppler vault 1password infisical ssm sops secrets-manager bitwarden
  keychain keepass
auth: auth0 clerk nextauth=next-auth=authjs keycloak okta cognito firebase-auth supabase-auth workos
  lucia passport devise ldap saml oauth
token: jwt session sessions cookie cookies paseto apikey
payment: stripe paypal adyen braintree mollie klarna square gocardless paddle lemonsqueezy sepa
mailer: postmark sendgrid mailgun ses resend mailchimp brevo sparkpost smtp mailjet
sms: twilio vonage messagebird sinch
password-hash: bcrypt argon2 argon2id scrypt pbkdf2 md5 sha1
checksum: sha1 sha256 md5 blake3 crc32 crc16 crc8
id: uuid=uuids ulid nanoid cuid serial autoincrement snowflake-id bigint
api: rest graphql grpc soap trpc websocket=websockets sse mqtt coap json-rpc polling webhook
serialisation: json yaml=yml toml xml ini protobuf cbor msgpack messagepack avro hcl
markup: markdown=md restructuredtext=rst asciidoc html latex typst docx
docs-tool: sphinx mkdocs docusaurus vitepress gitbook storybook readthedocs mdbook jekyll hugo
pdf: wkhtmltopdf weasyprint reportlab puppeteer fpdf prince pdfkit latex itext jasperreports
case: camelcase snake_case=snakecase kebab-case=kebabcase pascalcase screaming_snake_case
indentation: tabs=tab=tabulator=tabulatoren=タブ
  spaces=space=leerzeichen=espacios=espacio=espaços=espaces=スペース=空格
line-ending: lf crlf
quote: single-quotes double-quotes
branch: main master next trunk develop release canary
merge-way: squash=squashing=squashes=squashed rebase=rebasing=rebasen merge-commits=mergen fast-forward
versioning: semver calver
changelog-style: conventional-commits gitmoji
language: typescript=ts javascript=js python golang=go rust java kotlin ruby php elixir scala clojure
  c++ c csharp=c# swift dart perl lua zig
human-language: english=englisch=englische=englischen=anglais=inglés=inglês=ingles=英语=英文=英語
  german=deutsch=deutsche=allemand=alemán=德语=ドイツ語 french=französisch=français=francés=francês
  spanish=spanisch=español=espagnol=castellano=espanhol
  portuguese=português=portugiesisch=portugais=portugués chinese=chinesisch=chinois=中文=中国語
  japanese=japanisch=japonais=日语=日本語 italian=italienisch dutch polish
spelling: british american=us-english
address: siezen=gesiezt=siezt=sie=formal=formell duzen=geduzt=duze=duzt=casual=informal=informell=locker
  vouvoyer=vouvoie tutoyer=tutoie
weekday: monday=montag=mondays=lundi=lunes=月曜 tuesday=dienstag=tuesdays=mardi=martes
  wednesday=mittwoch=wednesdays=mercredi=miércoles thursday=donnerstag=thursdays=jeudi=jueves
  friday=freitag=fridays=vendredi=viernes saturday=samstag=saturdays=sábado
  sunday=sonntag=sundays=domingo
interval: hourly=stündlich daily=täglich=nightly=nachts=nächtlich weekly=wöchentlich biweekly
  monthly=monatlich=mensuel quarterly=quartalsweise=vierteljährlich
  yearly=annual=annually=jährlich=annuel
currency: dollar=dollars=usd euro=euros=eur pound=gbp yen=jpy franken=chf
clock: utc=gmt local-time=local=lokalzeit=ortszeit cet=berlin
number-type: float=floats=double=doubles=gleitkomma decimal=decimals=dezimal
  integer=integers=int=ints=ganzzahl string=strings cents=cent=centimes=céntimos=centavos basis-points
  fixed-point bigint
tax: gross=brutto=ttc net=netto=ht
rounding: half-up half-even=bankers=banker floor ceil truncate=abrunden
aggregate: mean=average=averaged=averages=mittelwert=durchschnitt median sum=total=summe mode max min
order: ascending=asc=aufsteigend descending=desc=absteigend
sequence: before=vorher=vor=avant=antes after=nachher=nach=après=después=afterwards
sync: sync=synchronous=synchron async=asynchronous=asynchron
side: server client=browser
theme: light=hell dark=dunkel
unit-system: metric=metrisch imperial feet=foot pounds
temperature: celsius fahrenheit kelvin
length-unit: meter=meters=metres millimeter=mm feet=foot inches=inch
endian: big-endian little-endian
c-compiler: gcc clang iar keil armcc msvc
build-tool: cmake meson make bazel gradle maven ninja buck scons sbt ant just=justfile platformio
rtos: freertos zephyr threadx rtx nuttx riot mbed
bus: i2c spi uart can rs485 modbus usb onewire ble=bluetooth lorawan=lora zigbee wifi nbiot
flasher: openocd jlink=j-link pyocd esptool stlink=st-link dfu avrdude
allocation: malloc=heap static-allocation=stack pool
log-level: debug info warning=warn error trace
linux: alpine debian ubuntu=jammy fedora centos arch rhel distroless rocky
os: linux windows macos=mac
browser: chrome firefox safari edge ie11
editor: vscode vim neovim=nvim emacs intellij pycharm cursor zed
shell: bash zsh fish powershell sh
proxy: nginx caddy traefik haproxy apache envoy
python-runner: gunicorn uvicorn hypercorn waitress uwsgi granian
model: gpt-4 gpt-4o claude gemini llama mistral gpt openai anthropic
embedding-store: pinecone weaviate qdrant chroma pgvector milvus faiss
cms: contentful sanity strapi wordpress ghost directus
analytics: posthog plausible matomo mixpanel amplitude google-analytics=ga4
image-format: png jpg=jpeg webp avif gif svg
accounting: datev lexware lexoffice sevdesk sap xero quickbooks
e-invoice: xrechnung zugferd pdf edi facturx
deletion: soft-delete=soft-deletes hard-delete
concurrency: threads=thread processes=multiprocessing asyncio=async coroutines
module-system: esm commonjs=cjs
class-style: classes functions functional hooks
environment: production=prod=live=produktion=produção=producción staging=stage development=dev preview
  qa sandbox localhost
licence: mit apache-2.0 gpl agpl bsd mpl proprietary
compression: gzip zstd brotli lz4 zip snappy
vcs: git svn mercurial=hg jj
tv-split: random-split time-split=temporal-split stratified
channel: sms e-mail=email=mail=mails=e-mails=correo post=letter=brief-post=einschreiben
  push-notification=notifications=push-notifications fax phone whatsapp
precision: fp32 fp16 bf16 int8 int4 fp8 float32 float16 float64
distance: km=kilometres=kilometers=kilometer miles=mile=meilen
weight: kg=kilograms grams=gram=gramm lbs tonnes
grammatical-number: singular plural
emptiness: null=none=nil empty empty-string zero
people: admins=admin everyone=everybody=alle
binary: binary=binär text
dates: iso iso-8601 yyyy-mm-dd dd.mm.yyyy mm/dd/yyyy
game-engine: unity unreal godot bevy
level-editor: tiled ldtk
routing: osrm valhalla graphhopper
maps: google-maps mapbox openstreetmap=osm here leaflet
video: vimeo mux youtube wistia
robot: ros ros1 ros2
pins: exact=exactly caret ranges=range
pesos: euros=euro=eur pesos=peso dollars=dollar reais francs=chf
length: short=brief=briefly=concise=terse=kurz=knapp detailed=long=verbose=detail=ausführlich=lang
"""

# What one does together: a prompt that names one of these may need a memory that names another.
_TASKS = """
publish: commit push release tag merge pull-request branch rebase squash deploy ship changelog version
  publish rollout hotfix main master
test: test pytest jest vitest mocha unittest spec specs coverage fixture fixtures mock assert e2e
  cypress playwright ci green red flaky snapshot tdd
style: format lint prettier eslint black ruff biome indent tabs spaces style naming camelcase snake_case
  quotes semicolon semicolons line
install: install dependency npm pnpm yarn bun pip uv poetry lockfile lock upgrade bump version
  package.json pyproject.toml requirements.txt node_modules
store: database postgres mysql sqlite migration migrations schema table column index query sql orm
  prisma seed transaction rollback backup
run: deploy server docker kubernetes helm terraform production staging rollout infra host container
  compose port
secure: secret password auth login token jwt session cookie permission permissions encrypt oauth .env
  vault credentials role roles csrf
money: price invoice amount tax vat currency rounding total discount payment refund billing cents stripe
  booking ledger
write: documentation readme changelog comment docstring markdown wording copy text tone spelling
  language translate
speak: answer explain language english german short detail emoji tone question ask
api: endpoint api rest graphql request response webhook status pagination header json openapi client
log: log logger error sentry monitoring alert tracing metric metrics structlog print debug
time: date time timezone utc timestamp day week cron schedule dst clock
ui: component page button css tailwind layout theme dark modal form react vue svelte view accessibility
  icon
data: dataset dataframe pandas polars feature features train training model split label labels notebook
  metric auc parquet csv leakage
firmware: firmware flash bootloader interrupt isr register sensor rtos heap stack watchdog battery
  voltage radio uart spi i2c
review: pull-request review approve reviewer merge comment description draft
organise: ticket jira linear sprint meeting standup team lead owner
"""


def _lines(table: str) -> list[str]:
    return table.strip().replace("\n  ", " ").splitlines()


def _same() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _lines(_SAME):
        first, *others = line.split()
        for word in (first, *others):
            found.setdefault(word, first)
    return found


def _slots() -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    slots: dict[str, tuple[str, ...]] = {}
    values: dict[str, str] = {}
    for line in _lines(_SLOTS):
        name, _, words = line.partition(": ")
        for group in words.split():
            names = group.split("=")
            for word in names:
                slots[word] = (*slots.get(word, ()), name)
                values.setdefault(word, names[0])
    return slots, values


def _tasks() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _lines(_TASKS):
        name, _, words = line.partition(": ")
        for word in words.split():
            found.setdefault(SAME.get(word, word), set()).add(name)
    return {word: frozenset(names) for word, names in found.items()}


SAME = kept("told.search.kinship:same", _same)
SLOTS, VALUES = kept("told.search.kinship:slots", _slots)
TASKS = kept("told.search.kinship:tasks", _tasks)
_NO_TASK: frozenset[str] = frozenset()


def canonical(word: str) -> str:
    """Return the word that stands for this one: `db` is `database`, `postgresql` is `postgres`.

    Args:
        word: A word in lower case.
    """
    return SAME.get(word) or VALUES.get(word) or word


def slots_of(word: str) -> tuple[str, ...]:
    """Return the slots a word is a value of: `pnpm` is a package-manager; most words have none."""
    return SLOTS.get(word, ())


def alternatives(one: str, other: str) -> bool:
    """Tell whether two words are different values of one slot, as npm and pnpm are."""
    if VALUES.get(one, one) == VALUES.get(other, other):
        return False
    return not set(slots_of(one)).isdisjoint(slots_of(other))


def tasks_of(word: str) -> frozenset[str]:
    """Return the tasks a word belongs to: `commit`, `push` and `release` are all of `publish`."""
    return TASKS.get(canonical(word)) or TASKS.get(word, _NO_TASK)


def akin(one: str, other: str) -> bool:
    """Tell whether two words mean the same or belong to the same task."""
    return canonical(one) == canonical(other) or not tasks_of(one).isdisjoint(tasks_of(other))
