"""Every bound of the server, named, with its reason. Nothing in Lamina grows without one of these."""

from __future__ import annotations

from typing import Final

# Scope paths, as the Cortex contract has them.
SCOPE_SEGMENTS_MAX: Final = 32
SCOPE_LENGTH_MAX: Final = 4096
SCOPE_TYPE_LENGTH_MAX: Final = 32
SCOPE_ID_LENGTH_MAX: Final = 128

# The experience envelope. The contract bounds only the idempotency key; the rest keep one event small enough to be
# derived, indexed and shown without special cases. Larger documents are uploaded as blobs or split by the caller.
IDEMPOTENCY_KEY_LENGTH_MAX: Final = 64
STREAM_ID_LENGTH_MAX: Final = 128  # of an event of a stream: an id of ours and a number
ACTOR_LENGTH_MAX: Final = 256
NAME_LENGTH_MAX: Final = 256
SESSION_LENGTH_MAX: Final = 256
MODALITY_LENGTH_MAX: Final = 64
TEXT_LENGTH_MAX: Final = 65_536
CONTENT_BYTES_MAX: Final = 262_144
CONTENT_DEPTH_MAX: Final = 32
LABELS_MAX: Final = 64
LABEL_LENGTH_MAX: Final = 256
PRECEDED_BY_MAX: Final = 64
MEDIA_MAX: Final = 32
INTENT_LENGTH_MAX: Final = 256
SPLIT_FACTS_MAX: Final = 64  # facts that a split names: their turns are derived anew in one step
SYNTHESIS_TOPICS_MAX: Final = 32
CORRECTION_WORDS_LENGTH_MAX: Final = 4096  # of the reason of a correction, and of the words that say it

# Derivation. Nobody says that they gave a plan up: one without a day that nobody spoke of for a season is no longer told as current.
PLAN_FADES_DAYS: Final = 90
REVISIONS_PER_HOUR_MAX: Final = (
    60  # a belief keeps when it was last revised, so many times; a tenant may allow as many in an hour
)
# Calibration. Below the least a curve tells more of chance than of the confidence; of more than the most the newest say enough.
CALIBRATION_VERDICTS_MIN: Final = 50
CALIBRATION_VERDICTS_MAX: Final = 5000
CALIBRATION_STEP: Final = 10  # so many verdicts later the curve is drawn again

# Access. One decision reads a few kept entries; past the bound they are read anew from the store.
POLICY_PATTERNS_MAX: Final = 256
POLICY_ENTRIES_KEPT_MAX: Final = 65_536
SCOPE_MEMBERS_MAX: Final = 1000
SCOPE_INHERITS_MAX: Final = 32
PRUNE_CANDIDATES_MAX: Final = 1000  # how many a dry run shows; it counts all

# Requests.
BODY_BYTES_MAX: Final = 2 * 1024 * 1024
BULK_BODY_BYTES_MAX: Final = 64 * 1024 * 1024
BULK_ITEMS_MAX: Final = 1000  # of the Cortex contract
# What there may be to a body, counted before it is parsed: a byte of keys costs a hundred bytes of memory. The content of one
# experience, at most 262,144 bytes, stays below; an item of a bulk write has the same bounds, and the whole these.
JSON_DEPTH_MAX: Final = 64  # content may nest 32 deep, inside the envelope and a batch
JSON_KEYS_MAX: Final = 32_768
JSON_ELEMENTS_MAX: Final = 131_072
BULK_KEYS_MAX: Final = 262_144
BULK_ELEMENTS_MAX: Final = 1_048_576
BODY_PLAIN_BYTES_MAX: Final = 16 * 1024  # that are parsed where they arrive: a millisecond or two at worst
BODY_PART_PAUSE_S: Final = 0.0005  # between the parts of a large one, for whoever waits for the interpreter
PROBLEMS_SHOWN_MAX: Final = 20  # of a request that is not of its type
PROBLEMS_READ_MAX: Final = 1000  # that are put into words to show the first of them: some 3 ms
# Bodies at once. One in memory costs some five times its bytes by the time it is stored; with these the server stays below 1 GB.
# Small ones are not counted: connections bound them.
BODIES_BYTES_MAX: Final = 128 * 1024 * 1024
BODIES_OF_TENANT_BYTES_MAX: Final = (
    96 * 1024 * 1024
)  # and the same share of what others leave: there is some for a third
BODIES_OF_CALLER_BYTES_MAX: Final = 80 * 1024 * 1024  # one bulk write and some others
BODY_UNCOUNTED_BYTES_MAX: Final = 64 * 1024
BODIES_RETRY_S: Final = 2.0
# Connections. Streams hold one each, and have bounds of their own.
CONNECTIONS_MAX: Final = 2048
CONNECTIONS_OF_ADDRESS_MAX: Final = 512  # more than a tenant's streams; proxies and this machine do not count
CONNECTIONS_REFUSED_MAX: Final = 128  # that are still told so; past it they are cut off without a word
CONNECTIONS_WAITING_MAX: Final = 2048  # that no process has taken yet; past it the system refuses them
CONNECTIONS_RETRY_S: Final = 5.0
REFUSED_S_MAX: Final = 2.0  # that a refused one has to send its request, so that it reads the answer
HEADERS_S_MAX: Final = 10.0
HEADERS_BYTES_MAX: Final = 64 * 1024  # without an end; what came in one piece with it is there anyway
BODY_S_MAX: Final = 20.0  # and a second more for as many bytes as the next bound says
BODY_BYTES_PER_S_MIN: Final = 64 * 1024
CONNECTIONS_LOOK_S: Final = 1.0  # how often all are looked at for those that are late
FILES_OPEN_MIN: Final = 256  # that the process needs beside its connections
RPC_CALLERS_MAX: Final = 16_384  # who said initialize at /v1/mcp, by a hash in memory: some 3 MB
PAGE_LIMIT_DEFAULT: Final = 50  # of the Cortex contract
PAGE_LIMIT_MAX: Final = 1000
CURSOR_LENGTH_MAX: Final = 2048
REQUEST_ID_LENGTH_MAX: Final = 128

PROCESSES_MAX: Final = 64  # that serve one folder: SQLite has one writer at a time, whatever their number
METRIC_OPERATIONS_MAX: Final = 256  # whose calls are counted: twice what the product has, 60 KB for a process

# Rate limits: an actor that was not heard of for long has a full bucket, so the oldest buckets can be forgotten.
RATE_BUCKETS_MAX: Final = 10_000
RATE_UNLIMITED: Final = 1_000_000_000  # what X-RateLimit-Limit says where nothing limits

# Tokens. Their times are those of the Cortex contract.
TOKEN_LENGTH_MAX: Final = 8192  # a header line that every proxy still passes
TOKEN_ID_LENGTH_MAX: Final = 256
TENANT_LENGTH_MAX: Final = 128
TOKEN_LIFETIME_S_MAX: Final = 24 * 3600
SERVICE_TOKEN_LIFETIME_S_MAX: Final = 30 * 24 * 3600
TOKEN_CLOCK_SKEW_S: Final = 60
REVOCATIONS_MAX: Final = 1_000_000  # of one tenant
REVOCATION_REASON_LENGTH_MAX: Final = 256
TOKENS_REMEMBERED_MAX: Final = 4096  # whose signatures are not checked again at each call
ISSUERS_MAX: Final = 64
ISSUERS_FILE_BYTES_MAX: Final = 1024 * 1024
ISSUER_KEYS_MAX: Final = 32  # a token without a key id is tried with each of them
RSA_KEY_BITS_MIN: Final = 2048
RSA_KEY_BITS_MAX: Final = 8192  # a larger one costs more to verify than a request is worth
JWKS_BYTES_MAX: Final = 256 * 1024
JWKS_TTL_S: Final = 600.0  # keys that could not be renewed for so long are trusted no more
JWKS_RENEW_S: Final = 300.0  # from here on they are renewed beside the requests
JWKS_INTERVAL_S: Final = 15.0  # how often an issuer is asked at most, whatever tokens arrive
JWKS_WAITING_MAX: Final = 16  # callers that wait for one issuer, each on a thread
JWKS_WAIT_S: Final = 5.0

# Idempotency and packs, as the Cortex contract has them.
IDEMPOTENCY_TTL_S: Final = 24 * 3600
KEYS_PRUNED_MAX: Final = 2000  # in one transaction
PACK_TTL_S: Final = 60
PACK_REMEMBERED_S: Final = 3600  # that an expired pack is known to have been there
PACK_LANDS_S_MAX: Final = (
    0.5  # until another process sees a pack: it joins the next commit, see WRITE_LATER_S
)
CHECK_FIRST_S: Final = 20.0  # after the start: what a crash or a disk damaged is built anew before long
CHECK_AGAIN_S: Final = 300.0
TRIM_EVERY_S: Final = 30.0  # between two times that free memory goes back to the system: milliseconds each
CHECK_EVERY_S: Final = 6 * 3600.0  # every byte is read: a gigabyte in a few seconds
CLOCK_AHEAD_S_MAX: Final = 60  # that the newest event may lie ahead: time servers take seconds
CLOCK_BELIEVED_S: Final = 3600.0  # that it stands after a jump until it erases: a time server needs minutes
AS_OF_NOW_S: Final = (
    5  # a caller's now, when it comes here; counts only while the log lies further ahead than that
)
PACKS_STORED_MAX: Final = 4096  # of a tenant, some kilobytes each: an answer is asked for of the newest

# Stopping: who is still being answered may have the answer, unless they do not take it.
STOP_S_MAX: Final = 35  # longer than a wait
STOP_STUCK_S: Final = 5.0

# Waiting for stages: past this the answer is 202 with the stages done so far.
WAIT_S_MAX: Final = 30.0
LEARN_S_MAX: Final = 2.0  # for what a correction of somebody's identity makes of it
KEY_WAITS_MAX: Final = 32  # at once, for another call with the same idempotency key to end
KEY_WAITS_OF_TENANT_MAX: Final = 16
WAITS_MAX: Final = 32  # at once: each holds a thread of those that serve calls; who comes then need not wait

# Jobs: 5, 10, 20, 40 s, then failed and visible.
JOB_ATTEMPTS_MAX: Final = 5
JOB_BACKOFF_BASE_S: Final = 5.0
JOB_LEASE_S: Final = 60.0
JOB_BATCH_MAX: Final = 32
JOB_SHARES: Final = 4  # of a batch: a scope takes one of them at most while others wait
JOB_PAGE: Final = 64  # of the oldest jobs that are looked at for a batch
JOB_PAGES_MAX: Final = 4  # before scopes are looked for that nothing holds back
JOB_LAND_MAX: Final = 16
"""Events whose derived rows share a transaction. Writers wait while it lands, and beyond this little is saved."""
JOB_ERROR_LENGTH_MAX: Final = 500

# Work that nobody waits for: how much later its next round comes after one that failed, doubled each time.
ROUND_BACKOFF_BASE_S: Final = 0.5
ROUND_BACKOFF_S_MAX: Final = 30.0

# The writer: one fsync serves at most this many writes.
WRITE_GROUP_MAX: Final = 64
WRITE_QUEUE_MAX: Final = 4096
WRITE_LATER_S: Final = 0.2  # that work waits for a commit to join, where it may
WRITE_JOINED_S: Final = 0.03  # that a write is held for others which begin round after round

# Audit: rows that wait for a commit. A full queue makes the next call wait rather than lose a row.
AUDIT_QUEUE_MAX: Final = 8192
AUDIT_BATCH_MAX: Final = (
    256  # rows that one commit takes along: milliseconds, which a capture may have to wait
)
AUDIT_LINGER_S: Final = 0.5
AUDIT_TEXT_LENGTH_MAX: Final = 512  # of paths and user agents
AUDIT_BYPASSES_MAX: Final = 16  # that one row names of what an administrator's token passed over
AUDIT_USES_ROWS_MAX: Final = 10_000  # the newest rows, which say what was used of late
TENANTS_CACHED_MAX: Final = 4096
AUDIT_PRUNE_ROWS_MAX: Final = 5000  # in one transaction

# Documents and their repository.
DOCUMENT_PATH_BYTES_MAX: Final = 1024
DOCUMENT_PATH_DEPTH_MAX: Final = 16
DOCUMENT_NAME_BYTES_MAX: Final = 255  # what file systems take, for working copies
DOCUMENT_VERSION_MAX: Final = 2**53 - 1  # the largest whole number that every JSON reader keeps
COMMITS_BATCH_MAX: Final = 64  # that share one flush, and that are in memory at once
RESTORED_AHEAD_S_MAX: Final = 300  # that a restored commit may be dated ahead: clocks differ
COMMITS_NOTED_MAX: Final = 2000  # hashes in one transaction
COMMITS_REMEMBERED_MAX: Final = (
    8192  # past the length of the write queue, so whoever comes to ask finds theirs
)
REPOSITORIES_GROWING_MAX: Final = 32  # that hold their newest pack in memory: up to some megabytes each
ENTRIES_CHECKED_MAX: Final = 50_000  # of the newest commit when a repository is opened: some 0.2 s
FOLDERS_KEPT_MAX: Final = 1024  # of one repository, in memory
REWRITE_LOOK_S: Final = 1.0  # until whoever makes the commits sees that another process erased documents
REWRITE_WAIT_S_MAX: Final = 600.0  # for a repository without what was erased: a minute for 10^5 commits

# Upkeep.
DISK_FREE_BYTES_MIN: Final = 256 * 1024 * 1024  # below it the server reports itself degraded
FOLDED_VERSIONS_MAX: Final = 16  # that are read with an old one: a tenth of a millisecond
ERASE_ROWS: Final = 500  # events or rows in one write of an erasure, or of packing: others wait milliseconds
DIVIDED_ROWS: Final = 200  # of which token vectors are put into pieces in one write: milliseconds
FREED_PAGES: Final = 256  # given back in one write
GAP_PAGES: Final = 128  # of the database cleared while nobody else writes: some milliseconds
LOG_EMPTIED_TRIES: Final = 20  # at the write-ahead file, while others read from it

# Recall.
# Those that wait for one of the cores, in one process: each holds a thread of those that serve calls, and costs no work.
RECALLS_WAITING_MAX: Final = 48
RECALLS_WAITING_OF_TENANT_MAX: Final = 40  # so that no tenant takes all of the queue
RECALL_WAIT_S_MAX: Final = 10.0  # that who comes last may expect to wait, past the seconds of the first recalls, which load the model
INDEX_BYTES_MAX: Final = 1_000_000_000  # of the scopes searched lately: some 1,000,000 rows of a chat
TURNS_WAITING_READ_MAX: Final = 20_000  # the newest of a scope that wait to be indexed, by their words: a second or two for who asks first
LINES_KEPT_MAX: Final = 32_768  # what lines say, by their words: some 16 MB; and single words, some 6
ROWS_PARSED_MAX: Final = 4096  # events, and as many derived records, by their rows: some 10 MB each
READERS_KEPT_MAX: Final = 8  # connections that read, and stay open between two bursts: some 2.5 MB each
READS_KEPT_MAX: Final = 28_000  # of derived records, and of what they rest on, by id: some 20 MB
ROW_PARSED_CHARS_MAX: Final = 8000  # of what a row holds as JSON: longer ones are parsed each time
TURNS_FOLDED_KEPT_MAX: Final = 2048  # turns that a summary was made of lately, and its lines: some 2 MB
TERMS_KEPT_MAX: Final = 8192  # of short texts, such as those of claims: some 4 MB
QUERY_LENGTH_MAX: Final = 4096
NATURAL_LENGTH_MAX: Final = 256  # of a time in words
PHRASE_LENGTH_MAX: Final = 64  # of a tenant's own words for a time
PHRASES_MAX: Final = 256  # of a tenant: each question is searched for all of them
VOCABULARIES_MAX: Final = 64  # of a tenant: more than one for each matter that people keep lists of
VOCABULARIES_ACTIVE_MAX: Final = 8  # in one policy: each claim is looked up in them
VOCABULARY_TERMS_MAX: Final = 256
VOCABULARY_BYTES_MAX: Final = 64 * 1024  # as JSON: it is read with the first event after each change
VOCABULARY_WORDS_LENGTH_MAX: Final = 1024  # of what a vocabulary or a term is for
TERM_LENGTH_MAX: Final = 128  # of a value, a unit and a predicate in free words
TERM_VALUES_MAX: Final = 256
TERM_SYNONYMS_MAX: Final = 32
RECALL_TOKENS_DEFAULT: Final = 4000
RECALL_TOKENS_MAX: Final = 200_000
ANSWER_TOKENS_DEFAULT: Final = 1500
ANSWER_TOKENS_MAX: Final = 8192  # more than anybody reads, and what small models write at most
LAYER_LIMIT_MAX: Final = 200
BLOCK_EVENTS_MAX: Final = 200  # of a context block, whatever its budget: each is read and worded
QUARANTINED_NAMED_MAX: Final = 20  # events that a recall names as kept out, best first
FILTER_DEPTH_MAX: Final = 8
FILTER_TERMS_MAX: Final = 64
SCOPES_PER_RECALL_MAX: Final = 256
EARLIER_VERSIONS_MAX: Final = 1000  # of a layer, read for their words by a recall as of an earlier time
QUESTIONS_KEPT_MAX: Final = 64  # with their vectors, of 4 kB for a plain question and 35 kB at most
# Token vectors kept in memory: some eighteen thousand turns of 25 words, a twentieth of what a loaded server may hold.
TOKENS_KEPT_BYTES_MAX: Final = 18_000_000

# Reads of the layers: how many rows one page looks through for a rare filter, and how far a graph is walked.
LIST_SCAN_MAX: Final = 5000
DERIVES_MAX: Final = 500
TIMELINE_LENGTH_MAX: Final = 1000
WHY_NODES_MAX: Final = 200
WHY_DEPTH_MAX: Final = 6
CONCEPT_DEPTH_MAX: Final = 3
COVERAGE_CONCEPTS_MAX: Final = 10_000
COVERAGE_INPUTS_MAX: Final = 5_000
SUMMARY_LENGTH_MAX: Final = 200

# Reminders, as the Relay contract has them. The bytes are those of canonical JSON.
SCHEDULE_TITLE_LENGTH_MAX: Final = 160
SCHEDULE_NOTE_LENGTH_MAX: Final = 1000
SCHEDULE_LINK_LENGTH_MAX: Final = 200
SCHEDULE_KEY_LENGTH_MAX: Final = 200
SCHEDULE_REASON_LENGTH_MAX: Final = 500
SCHEDULE_JSON_BYTES_MAX: Final = 2048
SCHEDULE_LIST_LIMIT_MAX: Final = 200
SCHEDULE_OFFSET_MAX: Final = 10_000
SCHEDULE_CONTEXT_ITEMS_MAX: Final = 100
SCHEDULE_WINDOW_HOURS_MAX: Final = 720

# What agents hand over, share and dispute, as the Relay contract has it.
COORDINATION_PEER_LENGTH_MAX: Final = 200
COORDINATION_LINK_LENGTH_MAX: Final = 200
COORDINATION_TITLE_LENGTH_MAX: Final = 120
COORDINATION_TEXT_LENGTH_MAX: Final = 240
COORDINATION_ITEM_LENGTH_MAX: Final = 160
COORDINATION_ITEMS_MAX: Final = 8
COORDINATION_PARTICIPANTS_MAX: Final = 8
COORDINATION_MESSAGE_LENGTH_MAX: Final = 120
COORDINATION_CLAIMS_MIN: Final = 2
COORDINATION_CLAIMS_MAX: Final = 4
COORDINATION_EVIDENCE_MAX: Final = 4
COORDINATION_SOURCE_LENGTH_MAX: Final = 64
COORDINATION_VERSION_MAX: Final = 2**53  # what a number in JSON holds everywhere
COORDINATION_PAGE_MAX: Final = 100
COORDINATION_OFFSET_MAX: Final = 1_000_000
COORDINATION_CARDS_MAX: Final = 100_000  # of artifacts, in memory for their queries, some 700 bytes each

# Tasks and patches: the contract has no bounds of them.
TASK_ID_LENGTH_MAX: Final = 128  # with its folder and ending it stays a name that file systems take
TASK_TITLE_LENGTH_MAX: Final = 1000
TASK_DESCRIPTION_LENGTH_MAX: Final = 32_768  # as much as an event tells of a document
TASK_NAMES_MAX: Final = 100
TASK_DUE_LENGTH_MAX: Final = 64
TASK_METADATA_BYTES_MAX: Final = 16_384
TASK_PAGE_MAX: Final = 500
PATCH_DIFF_LENGTH_MAX: Final = 262_144
PATCH_REASON_LENGTH_MAX: Final = 1000
PATCH_REF_LENGTH_MAX: Final = 64

# Tokens, keys and peers of the Relay contract.
TOKEN_GRANTS_MAX: Final = 64  # scopes or folders of a token; there are nine scopes
TOKEN_FOLDER_LENGTH_MAX: Final = 512
PEER_TOKEN_ID_LENGTH_MAX: Final = 128
TOKEN_NOTE_LENGTH_MAX: Final = 500
TOKEN_SECONDS_MAX: Final = 31_536_000  # a year, as the contract says
TOKENS_LISTED_MAX: Final = 1000  # the newest; a list has no pages in the contract
SIGNING_KEY_LENGTH_MIN: Final = 16  # of a secret that a caller brings; fewer could be tried out
SIGNING_KEY_LENGTH_MAX: Final = 512
SIGNING_KEY_GRACE_S: Final = 7 * 86_400  # how long what was signed with the key before still counts
SIGNATURE_LENGTH_MAX: Final = 128
PEERS_MAX: Final = 1000  # of a tenant: the registry is one document of some kilobytes each
REGISTRIES_KEPT_MAX: Final = 256  # tenants whose registry is kept as it was read last
PEER_URL_LENGTH_MAX: Final = 2048
PEER_KEY_LENGTH_MAX: Final = 8192
PEER_SCOPES_MAX: Final = 64
PEER_REASON_LENGTH_MIN: Final = 3
PEER_REASON_LENGTH_MAX: Final = 500
PEER_TRUST_STEPS_MAX: Final = 1000  # that the registry may keep; the versions of its document have all
PEER_ADDRESSES_MAX: Final = 64  # that a name may lead to
MANIFEST_BYTES_MAX: Final = 1024 * 1024
MANIFEST_WAIT_S: Final = 10.0
GOVERNANCE_BYTES_MAX: Final = 262_144  # of a tenant's own policy, which everybody may read

NONCES_PRUNED: Final = 100  # of envelopes between peers that have expired, at each new one

# Lifecycle streaming. What is kept for an hour, and how far a reader may lag, the Cortex contract says.
LIFECYCLE_REPLAY_S: Final = 3600
LIFECYCLE_LAG_S_MAX: Final = 30.0
LIFECYCLE_STREAMS_MAX: Final = 512  # of one process, each some 100 kB with its connection
LIFECYCLE_STREAMS_OF_TENANT_MAX: Final = 256  # so that no tenant keeps others out
LIFECYCLE_STREAMS_OF_ACTOR_MAX: Final = 64
LIFECYCLE_HEARTBEAT_S: Final = 15.0  # also how old a stream's permits grow
LIFECYCLE_LOOK_S: Final = 0.02  # how often at most all streams together read what was committed
CHANGES_LOOK_S: Final = 0.25  # how long a commit goes unseen at most whose process ended before it told of it
LIFECYCLE_PAUSE_S: Final = 0.0005  # for each stream that is woken: writes keep most of the processor
LIFECYCLE_BATCH_MAX: Final = 200
LIFECYCLE_TAIL_ROWS_MAX: Final = 8192  # in memory for all streams together, some 1.5 kB each
LIFECYCLE_SCOPES_MAX: Final = 1024  # that a stream remembers the decisions of
AUDIT_NOTE_LENGTH_MAX: Final = 1024

# Episodes are sealed at this size, so that no derived row grows without bound.
EPISODE_EVENTS_MAX: Final = 50
EPISODE_GAP_S: Final = 30 * 60
EPISODE_REST_S: Final = 7 * 86_400  # so long another session may go on with an episode whose turns have ended
EPISODES_RESTING_MAX: Final = 8  # of a scope: each first turn of a session is compared with all of them
PHRASES_KEPT_MAX: Final = 2000  # events whose noun phrases a worker remembers; others are read again
TURNS_COMPARED_MAX: Final = (
    4000  # events whose vectors a worker remembers, 1.5 kB each; others are read again
)

# Continuity. Parsed, a capsule takes some four times its bytes in memory.
CAPSULE_BYTES_KEPT_MAX: Final = 32 * 1024 * 1024
CAPSULE_READ_BYTES_MAX: Final = 256 * 1024  # far beyond what a write may have: what stood once is still read
DOCUMENTS_PAGE: Final = 1000
DOCUMENTS_READ_MAX: Final = 200
DOCUMENT_TRIES_MAX: Final = 16  # as many writers of one capsule at once get through
CAPSULE_VERSIONS_MAX: Final = 100  # of one page of a capsule's history
CAPSULE_STEPS_BACK_MAX: Final = 1000  # that a comparison since an instant walks, each a document that is read; then the oldest of them is the older version
CAPSULE_CLOCK_SKEW_S: Final = 300  # a date further ahead does not keep later writes out
UNKNOWN_FIELDS_NAMED_MAX: Final = 16  # in the warnings of one write; the rest is counted
UNKNOWN_FIELD_LENGTH_MAX: Final = 128
DOCUMENT_WORDS_MAX: Final = 32_768  # characters of a document that its event tells, for search
RELAY_PAYLOAD_BYTES_MAX: Final = 262_144
FILE_BYTES_MAX: Final = (
    10 * 1024 * 1024
)  # that appends may make of one, since each writes the file's blob anew
DOCUMENTS_TOLD_MAX: Final = 1_000_000  # events of documents that search knows, some 300 bytes each
DIRECTORY_PATHS_MAX: Final = 1_000_000  # of all tenants together, in memory
DIRECTORY_COMMITS_MAX: Final = 64  # further behind, the paths are listed anew
CARDS_KEPT_MAX: Final = 50_000
CARD_BYTES_READ_MAX: Final = 262_144  # of a document, for its tags and its front matter
CARD_TAGS_MAX: Final = 64
SEARCH_RECENT_MAX: Final = 500  # matches that are put in the order of time
GRAPH_SOURCES_MAX: Final = 100_000  # tasks and capsules whose links are in memory, of all tenants together
CONTEXT_SCAN_FILES_MAX: Final = 200  # that are looked through where nothing is indexed
CONTEXT_SCAN_BYTES_MAX: Final = 4096  # of each of them
SNAPSHOT_DOCUMENTS_MAX: Final = (
    2000  # that are read for a snapshot of an earlier state, where nothing is indexed
)
SNAPSHOT_BYTES_MAX: Final = 64 * 1024 * 1024  # of all of them; one is in memory at a time
# Sessions, as clients of the Synapse contract expect them.
SESSION_WINDOW_TURNS: Final = 12
SESSION_GAP_S: Final = 30 * 60
SESSION_TURN_AHEAD_S: Final = 366 * 86_400  # a turn dated later than that counts as said when it was recorded
SESSION_IDLE_BATCH: Final = 20
SITTINGS_WALKED: Final = 256  # sittings, and turns of one, that a replay reads at once
SESSION_UNFOLDED_READ_MAX: Final = 48  # turns behind the summary that a brief puts into words by itself
SESSION_WORDING_READ_MAX: Final = (
    48  # turns behind a model's words that rules put after them; with more, rules' words stand
)
SUMMARIES_WAIT_S: Final = 60.0  # that a model may be behind with summaries before health tells of it
OUTBOX_BATCH_MAX: Final = 64
OUTBOX_SESSION_ROWS_MAX: Final = 16  # of one session in a batch, so that a long one keeps nobody waiting
OUTBOX_LEASE_S: Final = 60.0  # longer than a batch may take: see the next two
OUTBOX_BUDGET_S: Final = 20.0  # a batch that took so long gives back what it has not tried
OUTBOX_ROW_S: Final = 8.0  # what one row may take of a graph
LLM_LEASE_MARGIN_S: Final = 30.0  # that a question is leased for beyond the time that the model has for it
LLM_TIMEOUT_S_MAX: Final = 3600
LLM_RETRIES_MAX: Final = 5
LLM_LEFT_ALONE_S: Final = (
    10  # that answers are given without a model once it gave none: each would wait for it
)
ANSWER_TIMEOUT_S_MAX: Final = 300  # somebody waits, and holds a thread
LLM_TOKENS_PER_DAY_MAX: Final = 10_000_000_000  # what no tenant reads in a day
LLM_CONCURRENCY_MAX: Final = 64
GRAPH_ROW_S: Final = 30.0  # graphiti asks its model several times for one turn
SUMMARY_TOKENS_MAX: Final = 200
OUTBOX_ATTEMPTS_MAX: Final = 5
OUTBOX_BACKOFF_BASE_S: Final = 5.0
OUTBOX_BACKOFF_S_MAX: Final = 300.0
LOOPS_NEW_PER_TURN_MAX: Final = 3
LOOP_CHARS_MAX: Final = (
    160  # in the words of a language model; rules take at most twelve words of the turn's own
)
LOOP_TURN_CHARS_MAX: Final = 4000  # what a language model is shown of a turn
READING_ANSWER_CHARS_MAX: Final = 65_536  # of what a language model says about a turn
READING_ITEMS_MAX: Final = 24  # of each list in that
READING_OBJECT_CHARS_MAX: Final = 200  # of a value of a fact, or of whom it is about
READING_QUOTE_CHARS_MAX: Final = 300
READING_TOKENS_MAX: Final = 1_500  # of an answer about a turn
READING_SHARED_MAX: Final = 4  # turns of a scope that share a question where they wait
READING_SHARED_SPAN_MAX: Final = (
    16  # turns of a conversation, others' too, from the first of these to the last
)
READING_SHARED_FROM: Final = (
    3  # that many have to wait, so that who types two turns in a row gets two short answers
)
READING_BEFORE: Final = 8  # turns that a language model is shown before the one it reads
READING_BEFORE_CHARS_MAX: Final = 1_000  # of each of these
EXTRACTIONS_KEPT_MAX: Final = (
    256  # of turns that were read lately, since an answer about one mostly comes at once
)
READING_NAMES_BEFORE: Final = 64  # turns of the scope in which those may have been named of whom one speaks
READING_SUMMARY_TURNS_MAX: Final = (
    256  # of a sitting whose summary is shown: each of them is a source of the answer
)
READING_VOCABULARY_MAX: Final = 60  # predicates that are shown
PARTICIPANT_ID_BYTES_MAX: Final = (
    93  # whatever its characters, it fits the id of a scope's segment once encoded
)
# Calls of Mem0's clients, each of which becomes several operations.
MEM0_SCOPES_MAX: Final = 32  # users, agents, apps and runs that one list or question reads
MEM0_SCAN_MAX: Final = (
    10_000  # facts, and as many turns, of a scope that one list reads; past that the newest count
)
MEM0_CHAIN_MAX: Final = 64  # values of one memory that are followed
MEM0_BATCH_MAX: Final = 100  # memories that one call updates or deletes

# Backups. A chunk is what is in memory at once, sealed by itself; a manifest has a line of 200 bytes for each tenant.
BACKUP_CHUNK_BYTES: Final = 1024 * 1024
BACKUP_MANIFEST_BYTES_MAX: Final = 64 * 1024 * 1024
BACKUP_PAGES_STEP: Final = 1024  # of the database, copied without looking whether to stop
BACKUP_KEY_BYTES_MIN: Final = 32  # a key of 256 bits, if they are random
BACKUP_KEY_BYTES_MAX: Final = 4096
BACKUP_SCRYPT_LOG_N: Final = 17  # 128 MB and half a second for each guess, the least that OWASP names
BACKUP_SCRYPT_LOG_N_MIN: Final = 14
BACKUP_SCRYPT_LOG_N_MAX: Final = (
    18  # a file from elsewhere must not ask for more memory than a small machine has
)
BACKUP_FILE_BYTES_MAX: Final = 4 * 1024 * 1024  # of a preset or of issuers
BACKUP_AGE_S_MAX: Final = 26 * 3600.0  # of the newest one where one is made every day, with room to make it
BACKUP_LOOK_S: Final = 20.0  # how often the worker looks whether one is due
BACKUP_AGAIN_S: Final = 600.0  # after one that failed: each try copies the database
BACKUPS_KEPT_MAX: Final = 10_000
OPS_RUNS_KEPT_MAX: Final = 2000  # runs of jobs of a tenant: a week of a job every five minutes

# Erasures.
PREVIEW_TTL_S: Final = 86_400.0  # of the Cortex contract, 8.6.2
PREVIEW_REMEMBERED_S: Final = 30 * 86_400.0  # past that an id is not known any more, rather than expired
ERASURE_LINES_AT_ONCE: Final = 1000  # of a manifest in a transaction: 5 ms of the writer
ERASURE_MANIFEST_PAGE_MAX: Final = 1000
ERASURES_LISTED_MAX: Final = 200
ERASURE_NOTE_LENGTH_MAX: Final = 500
LEGAL_HOLDS_MAX: Final = 200  # of a tenant
LEGAL_HOLD_ID_LENGTH_MAX: Final = 100
ERASURE_DRIFT_MAX: Final = 1_000_000  # events that a tenant may let come and go between preview and erasure
ERASURE_LEASE_S: Final = 60.0  # longer than one step of a phase takes
ERASURE_LOOK_S: Final = 0.5  # how often a worker looks for an erasure that nobody rang for
ERASURE_AGAIN_S: Final = 2.0  # after a failure, doubled with each further one
ERASURE_AGAIN_S_MAX: Final = 300.0
ERASURE_EVENT_US: Final = 4000  # an event where none was erased here yet; measured by bench/erasure.py
ERASURE_BASE_US: Final = 2_000_000  # that an erasure of nothing takes
ERASURE_STEP_MAX: Final = 24  # events in one transaction, for whose length writes of others wait
ERASURE_STEP_MIN: Final = 4  # events in one where these take their time: fewer cost nearly as much
ERASURE_STEP_S: Final = 0.002  # that one is to hold the lock: the next is larger or smaller
ERASURE_PAUSE_S_MAX: Final = 0.05  # between two of them, in which others write
ERASURE_SWEEP_MAX: Final = 128  # records left in an erased scope that go in one transaction
TTL_US_MIN: Final = 60 * 1_000_000  # of a layer: entries of the log come no faster than looks
TTL_US_MAX: Final = 100 * 365 * 86_400 * 1_000_000  # longer is for ever, and sums stay within 64 bits
EXPIRY_LOOK_S: Final = 60.0  # how often the worker looks for what is over
EXPIRY_BATCH: Final = 128  # events or records that one entry names: ten milliseconds of the writer
EXPIRY_COUNT_MAX: Final = 1_000_000  # of a scope and layer, in a rehearsal
FORGET_IDS_MAX: Final = 1000  # that one call names
FORGET_PAGE: Final = 500  # records looked at in one read
