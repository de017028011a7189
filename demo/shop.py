"""Made-up sessions about a web shop."""

from __future__ import annotations

from demo.story import Call, Project, Talk, Turn

SHOP = Project("code/shop", "git@github.com:acme/shop.git")

TALKS = (
    Talk(
        "claude-code", SHOP, 24.2, "Decide how VAT is rounded",
        (
            Turn(
                "The totals on the invoice and in the cart differ by one cent. Why?",
                "The cart rounds VAT on every line, the invoice rounds it once on the sum. With three "
                "lines at 19 % the two ways can differ by a cent. Both are allowed, but they must be the "
                "same.",
                (Call("read", "src/cart/total.ts"), Call("read", "src/invoice/render.ts")),
            ),
            Turn(
                "Round once per invoice, half up. Remember: our accountant never wants VAT rounded per line.",
                "Done: VAT is now rounded once on the sum, half up, in one function `roundVat` that cart and "
                "invoice share. I added a test with the three lines that differed.",
                (
                    Call("create", "src/money/round.ts"),
                    Call("edit", "src/cart/total.ts"),
                    Call("edit", "src/invoice/render.ts"),
                    Call("create", "src/money/round.test.ts"),
                    Call("run", "npm test -- money", "Tests: 14 passed, 14 total"),
                ),
            ),
            Turn(
                "Commit it",
                "Committed as `Round VAT once per invoice, half up`.",
                (Call("run", "git commit -am 'Round VAT once per invoice, half up'",
                      "[main 4be19d2] Round VAT once per invoice, half up\n 4 files changed"),),
            ),
        ),
    ),
    Talk(
        "codex", SHOP, 19.1, "Slow product page",
        (
            Turn(
                "The product page takes 2 seconds on the staging server. Find out where the time goes.",
                "1.6 of the 2.0 seconds are one query: the reviews are loaded one by one, 40 queries for 40 "
                "reviews. The rest is image resizing.",
                (Call("run", "npm run profile -- /p/1042", "reviews 1610 ms, images 240 ms, rest 130 ms"),
                 Call("read", "src/product/reviews.ts")),
            ),
            Turn(
                "Load them in one query, and page them by 20. And never run the profiler against production, "
                "only on staging: it slows the shop down.",
                "The reviews now come with one query, 20 at a time. The page takes 0.4 seconds on staging.",
                (Call("edit", "src/product/reviews.ts"), Call("edit", "src/product/page.tsx")),
            ),
        ),
        branch="speed",
    ),
    Talk(
        "claude-code", SHOP, 15.3, "Orders that are charged twice",
        (
            Turn(
                "Customers were charged twice when the browser resent the order. How can we rule that out?",
                "Give every order form an idempotency key and store it with a unique index. A second request "
                "with the same key returns the first order instead of charging again.",
                (Call("read", "src/checkout/order.ts"), Call("read", "src/checkout/charge.ts")),
            ),
            Turn(
                "Do that. The key is made in the browser, keep it for 24 hours.",
                "The form now sends an `Idempotency-Key`; `orders.idempotency_key` is unique, and a "
                "nightly job deletes keys older than 24 hours. Sending the same form twice gives the same "
                "order.",
                (
                    Call("edit", "src/checkout/order.ts"),
                    Call("edit", "src/checkout/form.tsx"),
                    Call("create", "migrations/0031_idempotency_key.sql"),
                    Call("run", "npm test -- checkout", "Tests: 31 passed, 31 total"),
                ),
            ),
        ),
        branch="orders", key="Move the checkout to a queue",
        note="The order form sends an idempotency key, kept for 24 hours. Pending: the same for refunds. "
        "Files: src/checkout/order.ts, migrations/0031_idempotency_key.sql.",
    ),
    Talk(
        "gemini-cli", SHOP, 12.4, "Translate the shop into French",
        (
            Turn(
                "Which texts of the checkout are not translated into French yet?",
                "Eleven keys are missing in `fr.json`, all of them below `checkout.errors`.",
                (Call("read", "locales/fr.json"), Call("read", "locales/en.json")),
            ),
            Turn(
                "Translate them. From now on, French texts use the formal address (vous).",
                "All eleven keys are there now, with `vous` and the same placeholders as in English.",
                (Call("edit", "locales/fr.json"),),
            ),
        ),
        branch="french",
    ),
    Talk(
        "copilot-cli", SHOP, 9.2, "Dark mode flickers on load",
        (
            Turn(
                "With dark mode on, every page flashes white before it turns dark.",
                "The theme is set by React after the first paint. A two-line script in the head that reads "
                "the saved theme before the first paint removes the flash.",
                (Call("read", "src/theme/provider.tsx"), Call("edit", "src/document.tsx")),
            ),
        ),
        branch="dark-mode",
    ),
    Talk(
        "claude-code", SHOP, 6.3, "Flaky test of the search box",
        (
            Turn(
                "search-box.test.tsx fails about every tenth run in CI. Make it reliable, do not just "
                "retry it.",
                "The test waited 300 ms for a debounce of 250 ms, too close on a busy machine. It now uses "
                "fake timers and advances them by exactly the debounce. 200 runs in a row passed.",
                (
                    Call("read", "src/search/search-box.test.tsx"),
                    Call("edit", "src/search/search-box.test.tsx"),
                    Call("run", "npx jest search-box --runs 200", "200 passed"),
                ),
            ),
        ),
    ),
    Talk(
        "codex", SHOP, 2.9, "Upgrade to Node 24",
        (
            Turn(
                "Upgrade the project to Node 24 and tell me what broke",
                "Two things broke: `node-sass` no longer builds, so I replaced it by `sass`; and `fetch` "
                "mocks had to use undici's MockAgent. Everything else passes.",
                (
                    Call("edit", "package.json"),
                    Call("edit", "Dockerfile"),
                    Call("edit", "test/mocks/fetch.ts"),
                    Call("run", "npm test", "Tests: 412 passed, 412 total"),
                ),
            ),
            Turn(
                "Which Node version do we pin in CI?",
                "24.11 in `.github/workflows/ci.yml` and in the Dockerfile, from one line in `.nvmrc`.",
                (Call("edit", ".github/workflows/ci.yml"), Call("create", ".nvmrc")),
            ),
        ),
        branch="node-24",
    ),
    Talk(
        "claude-code", SHOP, 0.05, "Refunds need the idempotency key too",
        (
            Turn(
                "Refunds can still be sent twice. Do the same as we did for orders.",
                "Refunds now take the same idempotency key as orders, with a unique index on "
                "`refunds.idempotency_key`. Sending a refund twice gives the first one back.",
                (
                    Call("read", "src/checkout/order.ts"),
                    Call("edit", "src/checkout/refund.ts"),
                    Call("create", "migrations/0034_refund_key.sql"),
                    Call("run", "npm test -- refund", "Tests: 12 passed, 12 total"),
                ),
            ),
        ),
        branch="refunds",
    ),
)  # fmt: skip
