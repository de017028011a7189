"""Made-up sessions about a home server and a note-taking app."""

from __future__ import annotations

from demo.story import Call, Project, Talk, Turn

HOMELAB = Project("code/homelab")
NOTES = Project("code/notes", "git@github.com:acme/notes.git")

TALKS = (
    Talk(
        "gemini-cli", HOMELAB, 26.1, "Back up the photos",
        (
            Turn(
                "Set up a nightly backup of /srv/photos to the other disk, and keep 30 days",
                "A systemd timer runs restic at 03:00, keeps 30 daily snapshots and prunes on Sundays.",
                (
                    Call("create", "backup/photos.service"),
                    Call("create", "backup/photos.timer"),
                    Call("run", "systemctl --user enable --now photos.timer", "Created symlink"),
                ),
            ),
            Turn(
                "How do I get a single photo back?",
                "`restic restore latest --include /srv/photos/2019/beach.jpg --target /tmp/photo`. I put "
                "the line into the README.",
                (Call("edit", "README.md"),),
            ),
        ),
    ),
    Talk(
        "claude-code", HOMELAB, 21.5, "Certificate did not renew",
        (
            Turn(
                "The certificate of the home server expired last night although certbot is installed",
                "Port 80 is closed since you moved to the new router, so the HTTP challenge fails. The DNS "
                "challenge needs no open port.",
                (Call("run", "certbot renew --dry-run", "Timeout during connect (likely firewall problem)"),),
            ),
            Turn(
                "Use the DNS challenge then",
                "Renewal now uses the DNS challenge, and the dry run passes. The timer runs twice a day.",
                (Call("edit", "certbot/cli.ini"), Call("run", "certbot renew --dry-run", "all succeeded")),
            ),
        ),
    ),
    Talk(
        "copilot-cli", HOMELAB, 11.3, "Disk is nearly full",
        (
            Turn(
                "What fills up the root disk?",
                "38 of 60 GB are old container images. `docker image prune -a --filter until=720h` would "
                "free 31 GB.",
                (Call("run", "du -xh --max-depth=2 / | sort -h | tail", "38G /var/lib/docker"),),
            ),
            Turn(
                "Do it, and let it happen every month by itself",
                "Freed 31 GB. A monthly timer prunes images that have not been used for 30 days.",
                (Call("create", "docker/prune.timer"), Call("create", "docker/prune.service")),
            ),
        ),
    ),
    Talk(
        "claude-code", NOTES, 23.8, "Sync conflicts lose text",
        (
            Turn(
                "If two devices edit the same note offline, one edit is lost. What are the options?",
                "Three options: keep both versions as a conflict copy, merge by paragraph, or use a CRDT. "
                "For plain text notes a merge by paragraph with a conflict copy as the way out is enough.",
                (Call("read", "lib/sync/merge.dart"),),
            ),
            Turn(
                "Merge by paragraph. If the same paragraph changed twice, keep both and mark them.",
                "Notes are merged by paragraph. Where both sides changed the same one, both stay, one "
                "below the other, with the device's name above each.",
                (Call("edit", "lib/sync/merge.dart"), Call("create", "test/merge_test.dart")),
            ),
        ),
        branch="merge",
        note="Merge by paragraph is done and tested. Open: attachments are still last-writer-wins.",
    ),
    Talk(
        "codex", NOTES, 16.4, "Search ignores umlauts",
        (
            Turn(
                "Searching for 'Mueller' should find 'Müller' and the other way round",
                "The index now folds umlauts both ways: ü becomes u and ue. Searching either finds both.",
                (Call("edit", "lib/search/index.dart"), Call("edit", "test/search_test.dart")),
            ),
        ),
        branch="umlauts",
    ),
    Talk(
        "gemini-cli", NOTES, 10.6, "Accessibility of the editor",
        (
            Turn(
                "A screen reader reads the toolbar as 'button button button'. Fix that.",
                "All nine toolbar buttons have labels now, and the heading level is announced.",
                (Call("edit", "lib/editor/toolbar.dart"),),
            ),
        ),
        branch="a11y",
    ),
    Talk(
        "claude-code", NOTES, 7.2, "Release 2.4 to the stores",
        (
            Turn(
                "Prepare release 2.4: version, changelog, screenshots list",
                "Version 2.4.0+61, the changelog lists eleven changes, and five screenshots have to be taken "
                "again because the toolbar changed.",
                (Call("edit", "pubspec.yaml"), Call("edit", "CHANGELOG.md")),
            ),
            Turn(
                "The store refused it: the privacy text is missing the backup",
                "Added the sentence about the optional backup to the privacy text in all four languages.",
                (Call("edit", "store/privacy.md"),),
            ),
        ),
        branch="release-2.4",
    ),
    Talk(
        "copilot-cli", NOTES, 5.4, "Crash on an empty notebook",
        (
            Turn(
                "The app crashes when the last note of a notebook is deleted",
                "The list asked for the first note of an empty notebook. It now shows the empty state "
                "instead, and a test deletes the last note.",
                (Call("edit", "lib/notebook/list.dart"), Call("create", "test/empty_notebook_test.dart")),
            ),
        ),
        branch="crash",
    ),
    Talk(
        "codex", NOTES, 3.3, "Export as Markdown",
        (
            Turn(
                "Add an export of all notes as one Markdown file per note, with the dates in the front "
                "matter",
                "Settings has an export now: one `.md` per note, dates and tags in the front matter, "
                "attachments in a folder beside it.",
                (Call("create", "lib/export/markdown.dart"), Call("edit", "lib/settings/page.dart")),
            ),
            Turn(
                "Two notes with the same title overwrite each other",
                "The file name now ends in a short id when a title occurs twice.",
                (Call("edit", "lib/export/markdown.dart"),),
            ),
        ),
        branch="export",
    ),
    Talk(
        "claude-code", HOMELAB, 0.9, "Move the media server to a container",
        (
            Turn(
                "Move Jellyfin into a container and keep the library and the users",
                "Jellyfin runs in a container now, with the old config folder mounted, so library and "
                "users are the same. Hardware decoding needs /dev/dri, which is passed through.",
                (
                    Call("create", "compose/jellyfin.yml"),
                    Call("run", "docker compose -f compose/jellyfin.yml up -d", "Started"),
                ),
            ),
        ),
    ),
)  # fmt: skip
