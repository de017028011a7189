"""Made-up sessions about a payments service."""

from __future__ import annotations

from demo.story import Call, Project, Talk, Turn

PAYMENTS = Project("code/payments", "https://github.com/acme/payments.git")

TALKS = (
    Talk(
        "claude-code", PAYMENTS, 27.4, "Webhook signature check fails",
        (
            Turn(
                "Every webhook from the card provider is refused with 401 since this morning.",
                "The provider signs the raw body, but since the upgrade our middleware parses the JSON "
                "first and signs the re-written text. The signature check must see the bytes as they came "
                "in.",
                (Call("read", "app/webhooks.py"), Call("read", "app/middleware.py")),
            ),
            Turn(
                "Fix it and make sure this cannot come back",
                "The signature is now checked on `request.body` before anything parses it, and a test "
                "sends a body with odd spacing, which failed before.",
                (
                    Call("edit", "app/webhooks.py"),
                    Call("create", "tests/test_webhook_signature.py"),
                    Call("run", "pytest -q tests/test_webhook_signature.py", "3 passed"),
                ),
            ),
        ),
        branch="webhooks",
    ),
    Talk(
        "codex", PAYMENTS, 22.2, "Run the migrations without downtime",
        (
            Turn(
                "We need a NOT NULL column on the payments table, 80 million rows, and no downtime.",
                "In three steps: add the column as nullable, fill it in batches of 10,000, then add a CHECK "
                "constraint as NOT VALID and validate it. No step locks the table for more than a moment.",
                (Call("read", "app/models/payment.py"),),
            ),
            Turn(
                "Write the three migrations. The batches must sleep 50 ms in between.",
                "Three migrations, 0057 to 0059. The second one sleeps 50 ms after each batch and can be "
                "stopped and started again.",
                (
                    Call("create", "migrations/0057_add_region.py"),
                    Call("create", "migrations/0058_fill_region.py"),
                    Call("create", "migrations/0059_region_not_null.py"),
                ),
            ),
        ),
        branch="region",
    ),
    Talk(
        "copilot-cli", PAYMENTS, 17.6, "Retry policy for the bank's API",
        (
            Turn(
                "How often do we retry a call to the bank, and with which pauses?",
                "Five times, with pauses of 1, 2, 4, 8 and 16 seconds, and without any jitter. All workers "
                "retry at the same moment.",
                (Call("read", "app/bank/client.py"),),
            ),
            Turn(
                "Add jitter and never retry a POST without an idempotency key",
                "The pauses now vary by up to 50 %, and a POST is only retried when it carries an "
                "idempotency key. Both are covered by tests.",
                (Call("edit", "app/bank/client.py"), Call("edit", "tests/test_bank_client.py")),
            ),
        ),
        branch="retries",
        note="Retries have jitter; a POST is retried only with an idempotency key. Next: alert when more "
        "than 5 % of the calls are retried.",
    ),
    Talk(
        "claude-code", PAYMENTS, 13.7, "Connect to the reporting database",
        (
            Turn(
                "The reports need the replica: "
                "DATABASE_URL=postgres://reports:Kf93-lantern-oak@replica:5432/pay",
                "The reports now read from the replica. The address comes from the environment; nothing of "
                "it is in the repository.",
                (Call("edit", "app/settings.py"), Call("edit", "app/reports/daily.py")),
            ),
        ),
        branch="reports",
    ),
    Talk(
        "gemini-cli", PAYMENTS, 8.5, "Explain the settlement job",
        (
            Turn(
                "What does the settlement job do if the bank's file arrives late?",
                "It waits until 06:00, then settles with the file of the day before and marks the day as "
                "provisional. When the file comes, the job runs again for that day.",
                (Call("read", "app/settlement/job.py"),),
            ),
        ),
    ),
    Talk(
        "claude-code", PAYMENTS, 4.1, "Currency without decimals",
        (
            Turn(
                "A payment of 500 yen was booked as 5.00. Where do we assume two decimals?",
                "In two places: `Money.from_cents` and the export to the ledger. Yen and won have no "
                "decimals, the Kuwaiti dinar has three.",
                (Call("read", "app/money.py"), Call("read", "app/ledger/export.py")),
            ),
            Turn(
                "Use the ISO 4217 exponent everywhere, and keep amounts as integers of the smallest unit",
                "`Money` now holds the smallest unit as an integer and asks a table of ISO 4217 exponents. "
                "The export writes 500 yen as 500.",
                (
                    Call("edit", "app/money.py"),
                    Call("edit", "app/ledger/export.py"),
                    Call("create", "app/iso4217.py"),
                    Call("run", "pytest -q", "288 passed"),
                ),
            ),
        ),
        branch="currency",
    ),
    Talk(
        "codex", PAYMENTS, 1.2, "Rate limit per merchant",
        (
            Turn(
                "One merchant sends 300 requests a second and slows down all others. Limit it per merchant.",
                "A token bucket per merchant in Redis: 50 requests a second, bursts up to 100. Beyond that "
                "the answer is 429 with `Retry-After`.",
                (
                    Call("create", "app/rate_limit.py"),
                    Call("edit", "app/middleware.py"),
                    Call("create", "tests/test_rate_limit.py"),
                    Call("run", "pytest -q tests/test_rate_limit.py", "9 passed"),
                ),
            ),
        ),
        branch="rate-limit",
    ),
)  # fmt: skip
