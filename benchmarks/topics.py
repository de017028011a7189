"""What developers talk about: areas of a code base, what goes wrong in them, and the words around both."""

from __future__ import annotations

# Area: its words, and a file in which it lives.
AREAS = {
    "redis cache": ("cache TTL eviction redis key invalidation stampede", "src/cache/store.py"),
    "login redirect": ("login redirect session cookie OAuth callback state", "web/auth/login.ts"),
    "database migration": (
        "migration alembic schema column backfill rollback",
        "db/migrations/0042_orders.sql",
    ),
    "kafka consumer": ("kafka consumer lag partition offset rebalance", "services/events/consumer.go"),
    "rate limiter": ("rate limit bucket burst quota throttle", "src/api/limits.py"),
    "payment webhook": ("webhook signature retry idempotency invoice payment", "src/billing/webhook.py"),
    "search index": ("search index analyzer relevance ranking synonym", "src/search/index.py"),
    "image upload": ("upload multipart thumbnail resize bucket image", "web/upload/images.ts"),
    "email delivery": ("email template bounce queue SMTP sender", "src/mail/outbox.py"),
    "feature flag": ("flag rollout percentage cohort toggle", "src/flags/rules.py"),
    "CI pipeline": ("pipeline runner artifact cache matrix workflow", ".github/workflows/ci.yml"),
    "docker image": ("docker layer image registry base build", "deploy/Dockerfile"),
    "kubernetes rollout": ("rollout pod readiness probe replica deployment", "deploy/k8s/api.yaml"),
    "GraphQL resolver": ("resolver dataloader schema field batching query", "src/graph/resolvers.ts"),
    "websocket gateway": ("websocket heartbeat reconnect gateway frame", "services/gateway/socket.go"),
    "report export": ("export CSV report stream chunk download", "src/reports/export.py"),
    "time zone handling": ("timezone UTC offset daylight calendar date", "src/core/clock.py"),
    "permission check": ("permission role policy tenant access", "src/auth/policy.py"),
    "audit log": ("audit log retention actor entry trail", "src/audit/log.py"),
    "background worker": ("worker job queue retry backoff celery", "src/jobs/worker.py"),
    "mobile sync": ("sync conflict offline merge device snapshot", "mobile/sync/engine.kt"),
    "config loader": ("config environment variable default override secret", "src/settings/load.py"),
    "metrics dashboard": ("metrics histogram dashboard label cardinality alert", "ops/dashboards/api.json"),
    "type checker": ("mypy generic protocol overload annotation strict", "pyproject.toml"),
    "form validation": ("form validation field error message schema", "web/forms/validate.ts"),
    "product listing": ("listing pagination cursor filter sort product", "src/catalog/listing.py"),
    "checkout flow": ("checkout basket coupon total tax order", "web/checkout/flow.tsx"),
    "address parser": ("address parser postal regex locale country", "src/geo/address.py"),
    "plugin loader": ("plugin entry point import registry hook", "src/plugins/loader.py"),
    "test fixtures": ("fixture factory seed teardown isolation pytest", "tests/conftest.py"),
}

# What goes wrong, and how it is put right.
PROBLEMS = {
    "times out under load": "the connection pool was exhausted; the pool now has {n} connections",
    "has a flaky test": "the test depended on wall time; it now uses a fixed clock",
    "leaks memory": "a listener was never removed; it is dropped after {n} minutes",
    "returns stale data": "the entry outlived its source; we decided on a TTL of {n} minutes",
    "fails on an empty list": "the first element was taken without a check; an empty list gives no rows",
    "has a race condition": "two writers met between read and write; the update is now one statement",
    "is too slow": "it asked once for every row; one query for {n} rows is enough",
    "breaks after the upgrade": "the signature changed in version {n}; the call passes it by name",
    "loses events on restart": "the offset was committed too early; it is committed after the write",
    "needs a refactoring": "it moved into its own module with {n} functions and no globals",
    "sends duplicates": "the retry had no key; an idempotency key is kept for {n} hours",
    "logs a secret": "the header is removed before the line is written",
}

ASKED = (
    "The {area} {problem}. Can you find out why?",
    "Why does the {area} in {file} behave like this? It {problem}.",
    "Please fix the {area}: it {problem}, see {file}",
    "What did we decide about the {word} of the {area}?",
    "Look at {file}, the {word} part. It {problem} since yesterday.",
    "Add a test for the {word} in {file}",
    "No, not like that. Keep the {word} and change only {file}",
    "Run the tests again and tell me what is left",
    "Explain how {word} and {other} work together here",
    "Never touch the {other} directly, go through {file} please",
    "Great. Now do the same for the {other}",
    "Write down what we learned about the {area}",
)

ANSWERED = (
    "The cause is in `{file}`: {remedy}.",
    "I looked at the {word} and the {other}. In short, {remedy}.",
    "Done. `{file}` handles the {word} now, and the {area} no longer {problem}.",
    "Root cause: {remedy}. The {word} itself was fine.",
    "Decision: {remedy}. The alternative was to drop the {other}, which costs more.",
    "All {n} tests pass. The {area} keeps its {word}; only `{file}` changed.",
)

PROJECTS = (
    "acme-api", "acme-web", "billing", "search-service", "mobile-app", "infra",
    "design-system", "data-pipeline", "auth-gateway", "docs-site", "my-app", "cli.tools",
)  # fmt: skip

_COMMON = (
    "the to a and of in is that it for this on with we be as not are from can if by an or but have "
    "was which when will has at one so all now should only then there into use no its you they more "
    "after before same than also would first other new still because each out up does what how file "
    "test code line function value error call name type return change data run set time user list "
    "check string request response path key build server table query result add fix read write class "
    "method object default case version field update state config service command output input version "
    "index module option import client branch commit message event handler logic number part point "
    "problem reason default local remote missing wrong right old last next step current single small "
    "large simple clear safe order group level limit size count start stop open close load store send "
    "keep move remove replace rename merge split wrap catch raise expect assert mock skip retry wait"
)

_STEMS = (
    "account adapter archive array async atlas batch binary block bridge broker buffer bundle cache "
    "catalog channel chunk cipher client cluster codec column commit config context cookie cursor "
    "daemon delta device digest domain driver edge engine entity envelope event export factory feed "
    "field filter flag folder frame gateway graph group guard handle handler hash header hook host "
    "index ingest inline intent item job journal kernel key label lease ledger lexer link list loader "
    "lock log mapper marker matrix merge message meta metric mirror model module mutex node notice "
    "object offset option order origin packet page parser patch payload peer plan plugin policy pool "
    "port probe profile proxy query queue quota range record region registry relay render report "
    "request resolver result retry role route row rule runner sample schema scope script sector seed "
    "segment session shard signal sink slice slot snapshot socket source span stack stage state store "
    "stream string subject sync table tag target task template tenant thread ticket timer token topic "
    "trace tree trigger tuple union unit update upload user vault vector vendor version view volume "
    "watcher weight widget window worker wrapper writer zone"
)

COMMON = list(dict.fromkeys(_COMMON.split()))
STEMS = _STEMS.split()
