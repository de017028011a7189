"""Invented pairs of a stored statement and what a user says later, with the relation between them."""

from __future__ import annotations

REPLACES = """
en | We use yarn for the web app. | switched to pnpm last week, yarn.lock is gone
en | Deploys go out from the release branch. | we deploy straight from trunk now
en | Unit tests run with jest. | jest is history, everything is on vitest
en | The API listens on port 8080. | api moved to port 9090 because of the proxy
en | Indent with tabs. | from now on two spaces, no tabs
en | Store passwords with bcrypt. | we hash with argon2id now, bcrypt is deprecated here
en | Always squash commits before merging. | stop squashing, we keep the full history from today
en | The staging server is stage1.acme.io. | staging lives at stage2.acme.io now
en | Python 3.9 is the minimum version. | dropped 3.9, minimum is 3.11
en | Logs are kept for 30 days. | retention went up to 90 days, legal wants it
en | Use Redux for client state. | redux got ripped out, zustand everywhere
en | CI runs on Travis. | we're on github actions since monday
en | The database is MySQL. | migration to postgres finished yesterday
en | Write commit messages in German. | commit messages in english please, new colleague
en | Never use default exports. | default exports are fine again, next needs them
en | Ask before installing new dependencies. | you don't have to ask before adding a dependency any more
en | Do not touch the legacy folder. | you may edit legacy now, freeze is over
en | Releases happen on Friday. | release day is tuesday now
en | Feature flags live in LaunchDarkly. | we cancelled launchdarkly, flags are in unleash
en | The team lead is Carla. | carla left, marco is the lead now
en | Review requests go to @anna. | reviews to @tom from now on, anna is on leave
en | Error tracking goes to Sentry. | sentry is out, we send errors to rollbar
en | Docs are written in reStructuredText. | docs are markdown now
en | The maximum upload size is 10 MB. | bumped the upload limit to 25 MB
en | The cron job runs at 2 am. | nightly job starts at 4 now
en | Frontend is built with webpack. | vite replaced webpack, don't generate a webpack config
en | Timestamps are stored in local time. | timestamps must be utc, local time bit us again
en | We use REST for the public API. | public api is graphql since v3
en | Coverage must be above 70 percent. | raise coverage gate to 85
en | Use requests for HTTP calls. | httpx instead of requests please, all of it
en | Format code with black. | ruff format does it now, black is removed
en | Line length is 80. | line length 100 from now on
en | Prices are stored as floats. | no, prices are decimals, never floats
en | Money values are in dollars. | everything is euros now, we left the us market
en | Images are hosted on S3. | images moved to cloudflare r2
en | Use the singleton pattern for config. | config gets injected, no singletons any more
en | Secrets come from Vault. | vault got shut down, secrets come from aws secrets manager
en | Branch names start with the ticket number. | forget ticket numbers in branches, a short description
en | The mobile app is written in Flutter. | we rewrote the app in react native
en | Merge with rebase. | no rebasing any more, merge commits only
en | Tests use a real database. | tests run against sqlite in memory now, not the real db
en | Always answer in German. | please answer in english from now on
en | Explain every step in detail. | keep it short, no long explanations any more
en | Docker images are based on alpine. | debian slim instead of alpine, musl broke numpy
en | Kubernetes manifests live in deploy/. | manifests were moved to infra/k8s
en | The main entry point is app.py. | entry point is server.py now, app.py is gone
en | Use camelCase for JSON keys. | json keys are snake_case from v2 on
en | Background jobs run on Celery. | celery is gone, jobs run on temporal
en | Tickets are tracked in Jira. | we left jira for linear
en | The customer is billed monthly. | billing is yearly now
en | We support IE11. | ie11 support is dropped
en | Use gpt-4 for the summaries. | summaries run on claude now
en | Sessions expire after 15 minutes. | session timeout is one hour now
en | Servers are in eu-west-1. | we moved to eu-central-1
en | Keep functions under 20 lines. | forget the 20 line limit, 50 is ok
en | Run the linter before each commit. | no need to run the linter by hand any more, the hook does it
en | You may push to main. | never push to main again, use a pr
en | Config is in config.yaml. | config.yaml became settings.toml
en | Use npm ci in the pipeline. | pipeline uses yarn install --immutable now
en | The CLI prints JSON by default. | default output is a table now, json only with --json
en | Call the product Beacon. | beacon was renamed, it's lumen now
en | Tax is calculated before the discount. | finance says after the discount, not before
en | Rows are sorted by date. | sort by priority, not date
en | Sensor values are averaged over a minute. | not the mean, take the median
en | The cache TTL is 5 minutes. | ttl 60 seconds now, stale data complaints
en | We use pip for this repo. | pip is out, uv from now on | We use uv for this repo.
en | Use Mocha for tests. | back to jest, mocha was a mistake | Use jest for tests.
en | Deploy with Helm. | helm didn't work out, plain kustomize again | Deploy with kustomize.
en | Indent with two spaces. | ok tabs again, I give up | Indent with tabs.
de | Wir nutzen npm. | ab jetzt pnpm, npm ist raus
de | Die Doku ist auf Deutsch. | doku bitte nur noch auf englisch
de | Tests laufen mit unittest. | wir sind auf pytest umgestiegen
de | Der Server läuft auf Port 3000. | port ist jetzt 4000
de | Mieten werden zum 1. eingezogen. | lastschrift geht jetzt am 3. raus
de | Immer rebasen. | kein rebase mehr, wir mergen
de | Die Datenbank liegt bei Hetzner. | datenbank ist zu ovh umgezogen
de | Fehler gehen an Sentry. | sentry ist abgeschaltet, fehler gehen an glitchtip
de | Duze die Kunden. | kunden werden gesiezt, nicht mehr geduzt
de | PDF werden mit wkhtmltopdf erzeugt. | statt wkhtmltopdf nehmen wir weasyprint
fr | On utilise yarn. | on est passé à pnpm, plus de yarn
fr | Les commentaires sont en français. | désormais les commentaires en anglais
fr | Le serveur tourne sur le port 8000. | le port est maintenant 8001
fr | La base est MySQL. | on a migré vers postgres
es | Usamos npm. | ahora usamos bun, npm ya no
es | Los tests se ejecutan con jest. | cambiamos a vitest, jest ya no se usa
es | La rama principal es master. | la rama principal ahora es main
pt | Usamos o Jenkins para CI. | mudamos para github actions, jenkins acabou
pt | Os commits são em inglês. | a partir de agora commits em português
zh | 使用 npm 安装依赖。 | 以后改用 pnpm,不要再用 npm
zh | 端口是 8080。 | 端口改成 9000 了
ja | テストは jest で実行する。 | jest はもう使わない、vitest に変更した
ja | コミットメッセージは日本語で書く。 | 今後コミットメッセージは英語で
en | Appointments are 30 minutes long. | doctors want 20 min slots now
en | Reminders go out by SMS. | sms got too expensive, we send push notifications
en | The game runs at 30 fps. | target is 60 on all consoles as of this sprint
en | Levels are edited in Tiled. | artists are on ldtk since the jam, ignore the tmx files
en | Save games are XML files. | saves are binary now
en | Routes are calculated with OSRM. | valhalla does the routing, osrm container is switched off
en | Drivers log in with a PIN. | no pins any longer, they scan a badge
en | Distances are stored in miles. | km only, the uk client is gone
en | Orders are exported at midnight. | export runs at 6 in the morning because of the bank
en | Addresses are validated with Google Maps. | we use here for address checks, google was too pricey
en | Grades go from 1 to 6. | school switched to percent
en | Videos are hosted on Vimeo. | mux hosts the videos
en | Students are identified by e-mail. | gdpr: student number instead of e-mail
en | Never restart the robot controller during the day. | restarting at daytime is ok, it is redundant now
en | The arm moves at most 0.5 m/s. | speed limit was lifted to 0.8
en | Use ROS 1. | we ported all nodes to ros2
en | Interest is calculated on 360 days. | the regulator wants actual/365
en | Transfers above 10,000 need two approvals. | threshold for the second approval is 5000 from may
en | Statements are archived for 7 years. | keep statements ten years, new law
en | All queries go through the read replica. | replica is gone, query the primary
en | Write ADRs for each decision. | nobody reads the adrs, stop writing them
en | Always add a screenshot to a UI PR. | screenshots aren't needed any more, chromatic does that
en | Put new endpoints under /v1. | v1 is frozen, everything new goes to /v2
en | Send e-mails with Mailgun. | mailgun banned us, postmark it is
en | Bugs are reported in Slack. | open a linear ticket for bugs, slack channel is closed
en | Sarah approves releases. | ask Ben for release approval, sarah changed teams
en | The importer skips broken rows. | broken rows must abort the import, skipping hid real errors
en | Empty fields are stored as NULL. | empty strings, not null
en | Weights are trained in fp32. | we train in bf16 now
en | Batch size is 64. | oom on the new gpus, use 32
en | Missing values are filled with zero. | don't fill with 0, use the median
en | Evaluation uses accuracy. | accuracy is misleading here, report f1
en | The holdout is the last month. | holdout = last two weeks, a month was too much
en | Radio sends every 10 seconds. | interval is a minute to save battery
en | Logs go to UART0. | uart0 is taken by the modem, logs are on rtt
en | Build with arm-gcc 10. | toolchain is 13.2 now
en | Interrupt priorities: radio highest. | the motor has the highest priority, radio comes second
en | Ask me before each commit. | just commit, you don't need my ok
en | Use one big PR for a feature. | split features into small prs, the big ones never get reviewed
en | The wiki is in Confluence. | wiki moved into the repo
en | Name tables in singular. | tables are plural, we renamed them all
en | Show prices without decimals. | always two decimals
en | The default language is English. | default locale is german, the market is dach
en | Use the old logo. | new logo is in assets/brand, drop the old one everywhere
en | Pin dependencies exactly. | use caret ranges, exact pins were a pain
en | Only admins can export. | everyone may export now
en | Public holidays come from a table. | we get holidays from an api now
en | Errors are returned as HTTP 200 with a code. | use real status codes, 200 for errors is over
en | Use GPT for tagging. | tagging is done by a regex, llm was too slow | Tagging is done with regexes.
en | Use Stylus. | ok plain css again | Use plain CSS.
en | The nightly build is at 23:00. | we're back at 1 am | The nightly build is at 01:00.
de | Einladungen gehen per Post raus. | nur noch per mail, porto ist zu teuer
de | Beiträge werden jährlich eingezogen. | vorstand hat quartalsweise beschlossen
de | Mitgliedsnummern haben fünf Stellen. | sechs stellen, fünf reichen nicht mehr
de | Server steht bei Strato. | wir sind zu hetzner gewechselt
de | Frontend ist Angular. | angular fliegt raus, react übernimmt
de | Rechnungsnummern beginnen mit RE. | präfix ist seit januar INV
de | Protokolle schreibt Frau Keller. | keller ist in rente, das macht jetzt herr vogt
de | Warnungen im Build sind ok. | keine warnungen mehr dulden, werror ist an
de | Preise werden aufgerundet. | kaufmännisch runden, nicht auf
de | Logs bleiben 14 Tage. | datenschutz will nur 7
fr | Les livraisons partent le lundi. | on livre le jeudi maintenant
fr | On vouvoie les clients. | le patron veut qu'on tutoie
fr | Les images sont sur S3. | tout est chez ovh depuis mars
es | El servidor está en Madrid. | lo pasamos a frankfurt
es | Los informes se mandan por correo. | los informes ya no van por correo, se suben al portal
pt | O prazo é de 10 dias. | o prazo subiu para 15 dias
zh | 日志保留 30 天。 | 现在只保留 7 天
ja | サーバーは AWS にある。 | GCP に移行した
"""

REPEATS = """
en | Use pnpm, never npm. | pnpm!! not npm, I told you
en | Never commit secrets. | again: no secrets in commits
en | Tests must pass before a merge. | don't merge when tests are red
en | Answer briefly. | keep answers short please
en | Use type hints everywhere. | where are the type hints? every function needs them
en | Do not edit generated files. | generated files are not to be edited, how many times
en | Run the linter before committing. | you forgot to lint before the commit again
en | Prices are stored as decimals. | prices are decimal, remember
en | Push to a feature branch, never to main. | no pushes to main, use a feature branch
en | We deploy with Helm. | deployment is done via helm as i said
en | Timestamps are in UTC. | utc for all timestamps
en | The backend is written in Go. | reminder: backend is go
en | Ask before deleting files. | ask me first before you delete a file
en | Log with structlog, no print. | no print statements, use structlog
en | Docs live in docs/. | documentation belongs in docs/
en | Commit often. | please make small commits often
en | Use early returns. | early returns pls!
en | Max line length is 100. | 100 chars per line max
en | The API port is 8443. | api is on 8443 like always
en | Do not use emojis. | stop with the emojis
en | Never run migrations on production without a backup. | backup first, before any prod migration
en | Comments in English only. | english comments only, i said that already
en | Use httpx for HTTP calls. | httpx for http, like I said yesterday
en | Do not mock the database in tests. | once more: don't mock the db in tests
en | Sort imports with isort. | imports have to be sorted, isort
en | Dates are shown as YYYY-MM-DD. | date format is YYYY-MM-DD
de | Keine Emojis. | nochmal: keine emojis
de | Commits immer auf Englisch. | commit messages bitte auf englisch, wie gesagt
de | Keine externen Abhängigkeiten. | wie oft noch: keine neuen abhängigkeiten von außen
de | Beträge werden in Cent gespeichert. | geldbeträge in cent speichern!
de | Vor dem Löschen fragen. | frag mich bevor du was löschst
fr | Ne jamais pousser sur main. | je répète, jamais de push sur main
fr | Les montants sont en centimes. | montants en centimes, comme toujours
es | No uses emojis. | ya te dije que sin emojis
es | Los commits van en inglés. | commits en inglés por favor
pt | Nunca faça push na main. | de novo: nada de push na main
zh | 不要使用表情符号。 | 说过了,不要用表情符号
ja | 絵文字は使わない。 | 絵文字は使わないでと言いました
en | Appointments are 20 minutes long. | slots = 20 min, don't make them 30
en | Never restart the controller during the day. | I told you not to restart the controller at daytime
en | Distances are stored in kilometres. | km in the db please, as always
en | Broken rows abort the import. | an import has to fail on broken rows
en | Commit messages follow Conventional Commits. | use conventional commit format!
en | Pin dependencies exactly. | exact versions only for dependencies
en | Only admins can export. | export is admin only
en | Tables are plural. | table names in plural, we had that
en | Use one small PR for each change. | small prs please
en | Errors use real HTTP status codes. | return proper status codes for errors
en | The default language is German. | german is the default locale
en | Do not use regular expressions for HTML. | html must not be parsed with regexes
en | Never edit vendored code. | hands off vendor/, that's third party code
en | No network calls in unit tests. | unit tests must not hit the network
en | Use bf16 for training. | training runs in bf16, as discussed
en | Keep the README current. | don't forget to update the readme
en | Always show a plan first. | plan first, then code. always
en | ISR code must not allocate. | no allocation inside interrupts!
en | Split by customer, never by row. | the split is on customer level
en | Reviews go to Tom. | tom does the reviews
en | Use British spelling. | colour not color, we write british english
en | Rates are stored as basis points. | interest rates go in as basis points
de | Einladungen gehen per Mail raus. | einladungen per mail, hatten wir schon
de | Mitgliedsnummern haben sechs Stellen. | mitgliedsnummer immer sechsstellig
de | Nie auf der Produktion testen. | nicht auf prod testen!!
de | Kommentare auf Deutsch. | kommentare bitte deutsch
de | Immer erst einen Plan zeigen. | wie gehabt: erst plan, dann code
fr | On tutoie les clients. | toujours tutoyer le client
es | Las fechas van en formato ISO. | fechas en iso, ya lo dije
pt | Valores em centavos. | guarde os valores em centavos
"""

REFINES = """
en | Write tests for new code. | and test the error paths as well
en | Use TypeScript strict mode. | also turn on noUncheckedIndexedAccess
en | Commit messages follow Conventional Commits. | scope is the package name in those commit messages
en | Never push directly to main. | docs typo fixes may go to main directly
en | Ask before installing dependencies. | dev dependencies are fine without asking
en | Use pytest for tests. | mark slow tests with pytest.mark.slow
en | Log errors with structlog. | include the request id in every log line
en | Use Postgres for storage. | enable the pg_trgm extension on the postgres databases
en | All endpoints need authentication. | except /health and /metrics
en | PRs need one review. | two reviews if the PR touches payments
en | Keep functions short. | around 30 lines, and parsers may be longer
en | Run the linter before committing. | run it with --fix
en | Deploys happen on Tuesday. | and only before noon
en | Retry failed requests. | at most three times with backoff
en | Use feature flags for new features. | name flags after the ticket
en | Do not mock the database. | mocking is ok for the timeout test
en | Use dependency injection. | constructor injection, not property injection
en | Answer in English. | you may quote german error messages as they are
en | Strings in the UI are translated. | untranslated strings fall back to english
en | Store uploads in S3. | uploads older than a year go to glacier
en | Cache API responses. | cache them for 10 minutes, never for logged-in users
en | Use black for formatting. | black with line length 100
en | Squash commits when merging. | keep the co-author lines when squashing
en | Money is stored in cents. | for yen there are no cents, store the plain amount
en | Docker images must be small. | under 200 MB, use multi stage builds
en | Use named exports. | pages need a default export because the router wants it
en | Every module has a docstring. | test modules don't need one
en | No print statements. | the cli module may print, that's its job
en | Release notes are in CHANGELOG.md. | breaking changes go at the top of the changelog
en | Migrations must be reversible. | if data gets dropped, dump it first
en | We use uv for dependencies. | uv lock has to be committed too
en | Use the logger, never console.log. | console.error is ok in the boot script
en | Backups run nightly. | backups also before each release
en | Firmware is signed before upload. | use the HSM key for signing, not the dev key
en | Feature branches are rebased on main. | unless someone else works on the branch
en | Use async handlers. | cpu heavy work goes to a thread pool in the async handlers
en | Model metrics are tracked in MLflow. | tag each mlflow run with the data version
de | Commits auf Englisch. | ticketnummer gehört auch in den commit
de | Rechnungen werden als PDF verschickt. | außer bei behörden, die bekommen xrechnung
de | Tests vor jedem Push laufen lassen. | bei reinen doku änderungen reicht der linter
de | Mieter werden gesiezt. | und immer mit nachnamen anreden
de | Backups laufen nachts. | backups zusätzlich vor jedem release
de | Keine neuen Abhängigkeiten. | testbibliotheken sind ok
fr | Écrire des tests pour chaque fonction. | sauf pour les scripts jetables
fr | Les commits sont en anglais. | et mettre le numéro du ticket au début du commit
es | Usa pytest para los tests. | y marca los tests lentos con slow
es | Pide permiso antes de instalar paquetes. | excepto los de desarrollo
pt | Use o logger. | inclua também o id da requisição no logger
zh | 使用 pytest 测试。 | 慢的测试还要加上 slow 标记
ja | コミットは英語で書く。 | チケット番号もコミットに入れる
en | Appointments are 20 minutes long. | first visits get 40 minutes
en | Reminders go out by SMS. | send them 24h before and not at night
en | Distances are stored in kilometres. | round to one decimal
en | Never restart the controller during the day. | in an emergency you may
en | Videos are hosted on Mux. | use signed urls for mux playback
en | Write ADRs for each decision. | number them and link the ticket
en | Pin dependencies exactly. | dev tools may float
en | Use ROS 2. | humble, not iron
en | Broken rows abort the import. | trailing blank rows don't count as broken
en | Only admins can export. | support can export single records too
en | Use conventional commits. | breaking changes get a ! after the type
en | Evaluation uses F1. | macro averaged, per class in the appendix
en | Add a screenshot to each UI PR. | before and after, mobile width too
en | Transfers above 5000 need two approvals. | one of the two has to be from treasury
en | All text is translated. | log messages stay untranslated
en | Use zod for validation. | put the schemas next to the route
en | Keep PRs small. | generated code doesn't count
en | Ask before deleting data. | temp tables you can drop without asking
en | Radio sends every minute. | send at once on an alarm
en | Statements are archived for ten years. | drafts can go after 90 days
en | Use the design tokens. | no hex values in components, only tokens
en | Tests must not use the network. | localhost is ok
en | Use Playwright for e2e. | run it headed when debugging
en | No default exports except pages. | config files may have one too
en | Use Tailwind. | for e-mail templates inline styles are needed
en | Logs go to RTT. | prefix each line with the task name
en | Holdout is the last two weeks. | skip the christmas week when you cut the holdout
en | PRs go against develop. | security fixes go against main and get cherry-picked
en | Everything is async. | for the pdf renderer we go back to sync, rest stays
de | Rechnungen per Mail. | ab 1000 euro zusätzlich als einschreiben
de | Mitglieder werden geduzt. | den ehrenvorsitzenden siezen wir trotzdem
de | Nie direkt auf main pushen. | für tippfehler in der doku darfst du
de | Beträge haben zwei Nachkommastellen. | bei strompreisen sind es vier
de | Vor dem Deploy ein Backup. | das backup muss auch getestet werden
de | Erst fragen, dann installieren. | bei testwerkzeugen musst du nicht fragen
fr | Les factures sont en PDF. | avec le numéro de TVA en bas de page
es | Los informes se suben al portal. | con la fecha en el nombre del archivo
pt | O prazo é de 15 dias. | para urgências são 2 dias
"""

CONTRADICTS_SCOPE = """
en | Use tabs for indentation. | in the python packages it's four spaces
en | We use pnpm. | the docs site is still on yarn, leave it
en | Answer in German. | in the open source repo write english
en | Use Postgres. | the mobile client uses sqlite locally
en | No default exports. | under apps/web default exports are required
en | The API runs on port 8080. | on staging it's 9080
en | Use strict null checks. | packages/legacy stays without strict null checks
en | Write tests for everything. | no tests in the prototypes folder
en | Never use print. | in scripts/ print is fine
en | Deploy on Tuesday. | the us team deploys on thursday
en | Formal tone in e-mails. | for the kids app the tone is casual
en | Use REST. | the internal admin api uses graphql
en | Python 3.12 only. | the lambda layer is on python 3.9
en | Prices include VAT. | prices for business customers are without vat
en | Squash merges. | in the infra repo we never squash
en | Use snake_case. | js code in web/ uses camelCase
en | Use the metric system. | the american edition shows feet and pounds
en | Log level is info. | on the dev machines log level is debug
en | Retention is 30 days. | for the enterprise plan retention is one year
en | Two reviewers per PR. | in the sandbox repo one reviewer is enough
en | British spelling. | marketing site uses american spelling
en | Use async SQLAlchemy. | the worker service uses the sync engine
en | Comments in English. | comments in firmware/vendor stay in chinese
en | Use React. | the checkout widget is plain preact
en | Never force push. | force pushing is fine in my own fork
en | All dates in UTC. | the shift planner shows local time
en | Images are webp. | newsletter images have to be png
en | Use docker compose locally. | windows devs use podman
en | Build with cmake. | tools/ is built with meson
en | Use jest. | packages/cli is tested with vitest
en | Kotlin for all Android code. | the sdk module stays java for now
en | Dark theme by default. | the print view is light
en | Heap allocation is forbidden. | in the bootloader simulator malloc is allowed
en | Data is kept in BigQuery. | for the eu tenants it's in postgres
de | Wir siezen. | in der app für studenten wird geduzt
de | Doku auf Deutsch. | im open source teil ist die doku englisch
de | Wir nutzen Postgres. | das mobile modul nutzt sqlite
de | Beträge sind brutto. | im gewerbeportal sind beträge netto
de | Einrückung mit vier Leerzeichen. | unter web/ sind es zwei leerzeichen
fr | On utilise pnpm. | dans le dossier legacy on reste sur npm
fr | Les prix sont TTC. | pour les clients pros les prix sont HT
es | Los comentarios van en español. | en el sdk público los comentarios van en inglés
es | Usamos tabs. | en los archivos yaml usamos espacios
pt | Usamos Postgres. | no aplicativo móvel usamos sqlite
zh | 使用 pnpm。 | packages/legacy 里仍然用 npm
ja | インデントはタブ。 | python のコードではスペース4つ
en | Appointments are 20 minutes long. | the dental clinic books 45 minutes
en | Distances are stored in kilometres. | for the us fleet it's miles
en | The game runs at 60 fps. | the switch port is capped at 30
en | Save games are binary. | the editor writes json saves
en | Reminders go out by SMS. | patients over in france get e-mail only
en | Grades are percentages. | the austrian schools keep 1 to 5
en | Interest is calculated on 365 days. | money market products use 360
en | Use Mux for videos. | internal trainings stay on vimeo
en | Train in bf16. | the edge model is trained in int8
en | Use ROS 2. | the demo robot in the lobby still has ros 1
en | Build with gcc 13. | the safety mcu is built with iar
en | Pin dependencies exactly. | in libs/ we use ranges, others depend on it
en | Keep comments minimal. | in the teaching repo comment every line
en | Errors are JSON. | the legacy soap gateway answers xml
en | Use zod. | functions/ uses joi because of the old runtime
en | Feature branches off develop. | in the docs repo branch off main
en | Only admins can export. | in the partner portal everybody exports
en | No comments in SQL. | analytics/ wants comments on each cte
en | Allocation after boot is forbidden. | host tools may allocate freely
en | Tests hit a real Postgres. | the desktop client tests use sqlite
en | Dates as DD.MM.YYYY. | the us storefront shows MM/DD/YYYY
en | Charts with plotly. | the paper figures are matplotlib
en | Use dollars. | the swiss shop is in chf
de | Mitglieder werden geduzt. | auf der sponsorenseite siezen wir
de | Beiträge quartalsweise. | die jugendabteilung zahlt monatlich
de | Frontend in React. | das kassenterminal ist in vue
de | Rechnungen als PDF. | im behördenportal gibt es xrechnung
fr | On tutoie les clients. | dans le portail b2b on vouvoie
es | Los precios van en euros. | en la tienda de méxico van en pesos
pt | O prazo é de 15 dias. | na filial do porto o prazo é de 30 dias
"""

INDEPENDENT = """
en | Never commit .env files. | never use tabs in yaml
en | Never use tabs in Python. | Always run the linter before committing.
en | Always run the linter before committing. | Do not log user emails.
en | Do not log user emails. | Never commit .env files.
en | Never push directly to the main branch. | Never push the staging branch directly without tests.
en | Use pnpm for installs. | use vitest for tests
en | The API runs on port 8080. | the metrics exporter runs on port 9100
en | Tests run with pytest. | tests need docker running
en | Redis is used for caching. | redis password is in vault
en | Deploys happen on Friday. | the weekly meeting is on friday
en | The database is Postgres 15. | node 20 is required
en | Logs are kept for 30 days. | invoices are due within 30 days
en | Use camelCase in JSON. | use kebab-case for css classes
en | Answer in English. | variable names in english as well
en | Stripe webhooks are verified by signature. | stripe test keys start with sk_test
en | Never delete migrations. | never edit the seed data by hand
en | The main branch is protected. | the main menu has five entries
en | Use uv for dependencies. | use ruff for linting
en | Commit messages are in English. | commit the lock file
en | Customers are identified by UUID. | orders are identified by a number
en | PRs need a review. | PRs get a preview deployment
en | Passwords are hashed with argon2. | files are hashed with sha256
en | The worker retries three times. | the worker runs on its own machine
en | Money is stored in cents. | weights are stored in grams
en | Keep functions short. | keep the readme up to date
en | Use Sentry for errors. | use grafana for dashboards
en | Images are stored on S3. | terraform state is stored on S3
en | We use React 18. | react hooks go into hooks/
en | Staging is at stage.acme.io. | production is at app.acme.io
en | Run migrations before deploying. | run the smoke test after deploying
en | The team lead is Carla. | carla prefers small PRs
en | The build needs Java 17. | build artefacts are uploaded to nexus
en | No emojis in code. | no abbreviations in variable names
en | Always use UTC. | always close database connections
en | The user table has soft deletes. | the user avatar is at most 1 MB
en | Feature flags live in Unleash. | feature branches live at most three days
en | Session tokens expire after 15 minutes. | reset links expire after 24 hours
en | Train on GPU nodes. | train/test split is by customer
en | The sensor samples at 10 Hz. | the display refreshes at 30 Hz
en | Use English for comments. | use the issue template for bugs
en | Firmware is flashed over USB. | firmware version is shown on the display
en | Never call the vendor API in tests. | never log the vendor API key
en | Docs are in docs/. | docs are built with mkdocs
en | Do not use lodash. | do not use inline styles
en | Use npm. | can you check why the build fails?
en | The backend is in Go. | fix the typo in the header
en | Tests live in tests/. | run the tests please
en | Use Postgres. | thanks, that works great!
en | CI runs on GitHub Actions. | ci secrets are managed by ops
en | Use feature branches. | tag releases with v prefix
en | Prefer composition over inheritance. | prefer tabs over spaces
en | The admin UI is internal only. | the admin password rotates monthly
en | Use moment for dates. | use axios for requests
en | Customer emails are personal data. | customer support answers within a day
en | All times are UTC. | all prices are in euros
en | The nightly job runs at 2. | the nightly job writes to /var/log/nightly
en | Max line length is 100. | max upload size is 20 MB
en | Snapshot tests live next to components. | snapshot the database before migrations
en | Never rename columns. | never rename public functions without a deprecation
en | Kafka topics are named by domain. | kafka consumers must be idempotent
en | Use Helm for deployments. | use conventional commits
en | The CLI is called gx. | the cli needs a --version flag
en | Battery must last five years. | battery voltage is read every minute
en | Models are evaluated with AUC. | models are stored in the registry
de | Mieten werden in Cent gespeichert. | zählerstände werden mit drei nachkommastellen gespeichert
de | Die Datenbank ist Postgres. | die datenbank wird nachts gesichert
de | Keine Emojis. | keine abkürzungen in spaltennamen
de | Wir nutzen Vue. | wir nutzen sentry für fehler
de | Rechnungen gehen per Mail raus. | rechnungen haben eine fortlaufende nummer
de | Tests mit pytest. | tests nie gegen die produktion
de | Immer auf Deutsch antworten. | immer die tests laufen lassen
fr | Les tests tournent avec pytest. | les tests ont besoin de docker
fr | Ne pas toucher au dossier legacy. | ne pas utiliser d'emojis
fr | On déploie le mardi. | la réunion est le mardi
es | Usamos Postgres. | usamos eslint
es | Los precios se guardan en céntimos. | los pesos se guardan en gramos
pt | Nunca commite o .env. | nunca use var
zh | 使用 pnpm。 | 使用中文回答
ja | テストは pytest で実行する。 | ドキュメントは docs に置く
en | Appointments are 20 minutes long. | appointments can be cancelled until the day before
en | Reminders go out by SMS. | the sms provider has a sandbox number
en | Never restart the controller during the day. | never update the firmware over wifi
en | Distances are stored in kilometres. | store the vehicle weight in kg
en | Videos are hosted on Mux. | add a video icon to the course card
en | Saves are binary. | the save button should be green
en | Routes are calculated with Valhalla. | add a route for the new settings page
en | Grades are percentages. | please grade my last answer
en | Interest is calculated on 365 days. | interest reports are due in january
en | Transfers above 5000 need two approvals. | transfer the repo to the new org
en | Statements are archived for ten years. | the import statement order doesn't matter
en | The radio sends every minute. | the radio button needs a label
en | Train in bf16. | the train station list comes from the gtfs feed
en | Holdout is the last two weeks. | the offer is valid for two weeks
en | Batch size is 32. | batch jobs run in the batch namespace
en | The nightly export runs at 6. | the office opens at 6
en | Branches start with the ticket number. | the bank branch has a five digit number
en | Tables are plural. | the price table on the landing page needs a header
en | Use Playwright for e2e. | the e2e tests need a seeded user
en | Never merge without review. | never merge customer records automatically
en | Backups run every night. | restore was tested in march
en | The API key is in Vault. | the primary key is a uuid
en | Deploys need a green pipeline. | deploys are announced in the ops channel
en | Customer Abel has 2 million rows; use it for load tests. | abel pays by invoice
en | The ERP rejects texts over 40 characters. | the erp accepts empty texts
en | Clear the cache after deploys. | the cache is shared by both workers
en | Squash migrations before a release. | squash my last two commits please
en | The token expires after an hour. | token counting uses tiktoken
en | Use async handlers. | handlers live in src/handlers
en | No magic numbers. | no trailing whitespace
en | Sensor readings are in mV. | sensor 3 is broken on board rev B
en | Do not block the event loop. | do not block users after failed logins
en | Use the design tokens. | never log auth tokens
en | Logs go to RTT. | put the changelog into docs
en | Users log in with a badge. | users see only their own depot
en | Line length is 100. | the production line has 100 stations
en | Ask before deleting data. | delete the tmp folder
en | Port 5173 is the dev server. | port the parser to rust
en | The watchdog resets after 2 s. | the display sleeps after 30 s
en | Model cards are in docs/models. | the data model has three tables
en | Test data is anonymised. | data is refreshed weekly
en | Write ADRs for each decision. | write the release mail in a friendly tone
en | Always show a plan first. | always use the dark logo
en | Events are stored in Kafka. | event pages need an og image
en | Prod access needs approval. | prod runs three replicas
de | Einladungen gehen per Mail raus. | die mail vom lieferanten liegt im ordner eingang
de | Beiträge werden quartalsweise eingezogen. | beiträge im blog brauchen ein bild
de | Mitgliedsnummern haben sechs Stellen. | mitglieder unter 18 zahlen nichts
de | Löschen nur mit Freigabe. | lösch mal die alten logs
de | Der Server startet sonntags neu. | der newsletter geht sonntags raus
de | Nie auf prod testen. | prod hat drei knoten
de | Die Kasse schließt um 18 Uhr. | der abgleich läuft um 18 uhr
de | Commits klein halten. | bilder klein halten, höchstens 200 kb
fr | Les factures sont en PDF. | les factures se paient à 30 jours
fr | Le serveur redémarre le dimanche. | le serveur a 32 Go de RAM
es | Los informes se suben al portal. | el portal tiene modo oscuro
pt | O prazo é de 15 dias. | o relatório tem 15 páginas
zh | 日志保留 7 天。 | 日志里不要写密码
ja | サーバーは GCP にある。 | サーバーの再起動は日曜日
"""


def pairs() -> list[tuple[str, str, str, str, str]]:
    """Return every pair as (label, language, old, new, older)."""
    found = []
    for label, block in (
        ("replaces", REPLACES),
        ("repeats", REPEATS),
        ("refines", REFINES),
        ("contradicts_scope", CONTRADICTS_SCOPE),
        ("independent", INDEPENDENT),
    ):
        for line in block.strip().splitlines():
            language, old, new, *older = [part.strip() for part in line.split(" | ")]
            found.append((label, language, old, new, older[0] if older else ""))
    return found
