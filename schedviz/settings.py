"""Settings of every process: web, workers, commands. Each is read from an environment variable and has a default (in parentheses).

The most important ones; the others are below, each with a comment:

SCHEDVIZ_DATA             folder for the SQLite database, keys, tokens and logs
SCHEDVIZ_DATABASE_URL     sqlite:///path or postgresql://…            (sqlite in DATA)
SCHEDVIZ_REDIS_URL        redis://…, rediss://… or unix:///socket     (redis://127.0.0.1:6379/0)
SCHEDVIZ_SECRET_KEY       (read from DATA/secret_key, which is created if it does not exist)
SCHEDVIZ_ROLE             web | worker | io | experiments | sweeper: what this process does (web)
SCHEDVIZ_PUBLIC           1: the server is on a public network: smaller limits, cookies over HTTPS only
SCHEDVIZ_ALLOWED_HOSTS    exact names, separated by commas            (127.0.0.1,localhost,[::1])
SCHEDVIZ_ORIGINS          origins behind a proxy: https://schedviz.example.org
SCHEDVIZ_URL              public address of this server, for links to rooms (taken from the request)
SCHEDVIZ_LESSONS          folders with additional lessons, separated as in PATH (none)
SCHEDVIZ_EXTENDER_HOSTS   host:port, separated by commas: extenders that sessions may call (none)
SCHEDVIZ_EXTENDER_NETWORKS  10.0.0.0/8, …: private networks in which extenders may be (none)
SCHEDVIZ_EXTENDER_USERS   names of users whose sessions may call extenders (none)
SCHEDVIZ_METRICS_TOKEN    bearer token with which /metrics can be read (none)
SCHEDVIZ_METRICS_FROM     10.0.0.0/8, …: networks from which /metrics can be read (none)
SCHEDVIZ_LOG              json | console                              (console on a terminal, else json)
SCHEDVIZ_LOG_LEVEL        level of schedviz's own log lines; DEBUG logs each command (INFO)
SCHEDVIZ_LOG_REQUESTS     1: log each request (0)
SCHEDVIZ_TRACES           1: send OpenTelemetry traces to OTEL_EXPORTER_OTLP_ENDPOINT (0)
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import structlog

from schedviz import __version__
from schedviz.web.environment import (
    base_url,
    broker_url,
    choice,
    comma_separated,
    data_folder,
    database,
    embedding_sites,
    flag,
    host_names,
    instance_of,
    log_level,
    networks,
    number,
    secret_key,
)
from schedviz.web.redaction import redact_rendered

BASE_DIR = Path(__file__).resolve().parent.parent
DATA = data_folder(BASE_DIR)
ROLE = choice("SCHEDVIZ_ROLE", ("web", "worker", "io", "experiments", "sweeper"), "web")
PUBLIC = flag("SCHEDVIZ_PUBLIC")
DEBUG = flag("SCHEDVIZ_DEBUG")
SECRET_KEY = secret_key(DATA)
#: Distinguishes this server's cookies from those of others on the same host: a browser sends a cookie to every port.
INSTANCE = instance_of(SECRET_KEY)

#: Extenders that sessions may call, written exactly as in the scheduler configuration.
EXTENDER_HOSTS = comma_separated("SCHEDVIZ_EXTENDER_HOSTS", [])
#: Private networks to which the names of extenders may resolve. All other private addresses are refused.
EXTENDER_NETWORKS = networks("SCHEDVIZ_EXTENDER_NETWORKS")
#: Users whose sessions may call extenders.
EXTENDER_USERS = comma_separated("SCHEDVIZ_EXTENDER_USERS", [])

# --- Limits. The message of a refusal names the setting.

MEGABYTE = 1 << 20
#: Bytes of all files of one import, as uploaded and after unpacking.
UPLOAD_BYTES = number("SCHEDVIZ_UPLOAD_BYTES", 64 * MEGABYTE if PUBLIC else 1024 * MEGABYTE)
IMPORT_UNPACKED_BYTES = number("SCHEDVIZ_IMPORT_UNPACKED_BYTES", 64 * MEGABYTE if PUBLIC else 1024 * MEGABYTE)
#: Objects of one import.
IMPORT_OBJECTS = number("SCHEDVIZ_IMPORT_OBJECTS", 50_000 if PUBLIC else 300_000)
#: Seconds that one import may take.
IMPORT_SECONDS = number("SCHEDVIZ_IMPORT_SECONDS", 120 if PUBLIC else 600)
#: Address space of an import's process, in megabytes.
IMPORT_MEGABYTES = number("SCHEDVIZ_IMPORT_MEGABYTES", 2048 if PUBLIC else 8192)
#: Imports of files that one user, or the visitors of the demo from one address, may have running at a time: fewer than there are io
#: processes. 0: no limit.
IMPORTS_PER_USER = number("SCHEDVIZ_IMPORTS_PER_USER", 1)
#: Analyses, cycles in detail and texts of one user that may run at a time; all visitors of the demo together, all participants of rooms and
#: all clients without a login may have as many, and take turns. 0: no limit, as `schedviz up` sets it for a server of one user.
ANALYSES_PER_USER = number("SCHEDVIZ_ANALYSES_PER_USER", 1)
#: Files of one import.
UPLOAD_FILES = number("SCHEDVIZ_UPLOAD_FILES", 1000)
#: Bytes of one REST body that is not an uploaded file, and of one WebSocket message.
BODY_BYTES = number("SCHEDVIZ_BODY_BYTES", 4 * MEGABYTE if PUBLIC else 16 * MEGABYTE)
SOCKET_MESSAGE_BYTES = number("SCHEDVIZ_SOCKET_MESSAGE_BYTES", 64 * 1024)
#: Bytes of all bodies over 64 KB that one web server receives and processes at once.
SPOOL_BYTES = number("SCHEDVIZ_SPOOL_BYTES", 2 * UPLOAD_BYTES + 16 * MEGABYTE)
#: How slowly a request may arrive: the seconds until its head is complete, the longest pause within its body, and the body's minimum
#: bytes per second, on average over 30 s. 0: no limit.
REQUEST_HEAD_SECONDS = number("SCHEDVIZ_REQUEST_HEAD_SECONDS", 15)
REQUEST_BODY_IDLE_SECONDS = number("SCHEDVIZ_REQUEST_BODY_IDLE_SECONDS", 60)
REQUEST_BODY_BYTES_PER_SECOND = number("SCHEDVIZ_REQUEST_BODY_BYTES_PER_SECOND", 1000)
#: Bytes of all responses over 256 KB that one web server sends at once.
RESPONSE_BYTES = number("SCHEDVIZ_RESPONSE_BYTES", 128 * MEGABYTE if PUBLIC else 256 * MEGABYTE)
#: Seconds for which a client may stop reading a response. 0: no limit.
RESPONSE_IDLE_SECONDS = number("SCHEDVIZ_RESPONSE_IDLE_SECONDS", 60)
#: Nodes and pods of a generated cluster.
GENERATE_NODES = number("SCHEDVIZ_GENERATE_NODES", 5_000 if PUBLIC else 20_000)
GENERATE_PODS = number("SCHEDVIZ_GENERATE_PODS", 50_000 if PUBLIC else 200_000)
#: Quotas for the sessions of one user together, and for all sessions together (docs/reliability.md). 0: no limit.
SESSIONS_PER_USER = number("SCHEDVIZ_SESSIONS_PER_USER", 20 if PUBLIC else 1000)
SESSIONS_IN_ALL = number("SCHEDVIZ_SESSIONS_IN_ALL", 2000 if PUBLIC else 0)
NODES_PER_USER = number("SCHEDVIZ_NODES_PER_USER", 20_000 if PUBLIC else 0)
NODES_IN_ALL = number("SCHEDVIZ_NODES_IN_ALL", 1_000_000 if PUBLIC else 0)
PODS_PER_USER = number("SCHEDVIZ_PODS_PER_USER", 200_000 if PUBLIC else 0)
PODS_IN_ALL = number("SCHEDVIZ_PODS_IN_ALL", 10_000_000 if PUBLIC else 0)
#: Objects of all kinds, with nodes and pods, where a large one counts as several: they take memory while a session is hosted.
OBJECTS_PER_USER = number("SCHEDVIZ_OBJECTS_PER_USER", 300_000 if PUBLIC else 0)
OBJECTS_IN_ALL = number("SCHEDVIZ_OBJECTS_IN_ALL", 15_000_000 if PUBLIC else 0)
CYCLES_PER_USER = number("SCHEDVIZ_CYCLES_PER_USER", 1_000_000 if PUBLIC else 0)
CYCLES_IN_ALL = number("SCHEDVIZ_CYCLES_IN_ALL", 50_000_000 if PUBLIC else 0)
BYTES_PER_USER = number("SCHEDVIZ_BYTES_PER_USER", 1024 * MEGABYTE if PUBLIC else 0)
BYTES_IN_ALL = number("SCHEDVIZ_BYTES_IN_ALL", 50 * 1024 * MEGABYTE if PUBLIC else 0)
#: Experiments of one user, trials of one experiment, and seconds for one trial or for the check of a plan.
EXPERIMENTS_PER_USER = number("SCHEDVIZ_EXPERIMENTS_PER_USER", 10 if PUBLIC else 1000)
EXPERIMENT_TRIALS = number("SCHEDVIZ_EXPERIMENT_TRIALS", 100 if PUBLIC else 10_000)
TRIAL_SECONDS = number("SCHEDVIZ_TRIAL_SECONDS", 300 if PUBLIC else 3600)
#: Sessions that an engine worker hosts at a time, until it has read the size of its pool.
SLOTS = number("SCHEDVIZ_SLOTS", 64)
#: Waiting commands of one session.
COMMANDS_WAITING = number("SCHEDVIZ_COMMANDS_WAITING", 1000)
#: Commands per second of one socket, and the largest burst.
SOCKET_COMMANDS_PER_SECOND = number("SCHEDVIZ_SOCKET_COMMANDS_PER_SECOND", 50)
SOCKET_COMMANDS_AT_ONCE = number("SCHEDVIZ_SOCKET_COMMANDS_AT_ONCE", 100)
#: WebSocket frames (messages, their fragments, pings) per second of one socket, and the largest burst.
SOCKET_FRAMES_PER_SECOND = number("SCHEDVIZ_SOCKET_FRAMES_PER_SECOND", 200)
SOCKET_FRAMES_AT_ONCE = number("SCHEDVIZ_SOCKET_FRAMES_AT_ONCE", 2000)
#: Bytes queued for one viewer. A viewer that is further behind is sent the whole view instead.
VIEWER_QUEUE_BYTES = number("SCHEDVIZ_VIEWER_QUEUE_BYTES", 4 * MEGABYTE)
#: Downloads of sessions that one web server produces at once; one user has half of what others leave, and all clients without an
#: account have half. 0: no limit.
DOWNLOADS = number("SCHEDVIZ_DOWNLOADS", 8)
#: Open sockets of one user or participant in one session, of one session, and of one web server.
SOCKETS_PER_VIEWER = number("SCHEDVIZ_SOCKETS_PER_VIEWER", 50)
SOCKETS_PER_SESSION = number("SCHEDVIZ_SOCKETS_PER_SESSION", 500)
SOCKETS = number("SCHEDVIZ_SOCKETS", 2000)
#: Requests per minute of one user or, without an account, of one address. Requests that create sessions, and those that keep a worker
#: busy (explain/, what-if/, compare/, a cycle in detail, …), have limits of their own. 0: no limit.
REQUESTS_PER_MINUTE = number("SCHEDVIZ_REQUESTS_PER_MINUTE", 600 if PUBLIC else 60_000)
NEW_SESSIONS_PER_MINUTE = number("SCHEDVIZ_NEW_SESSIONS_PER_MINUTE", 10 if PUBLIC else 0)
QUESTIONS_PER_MINUTE = number("SCHEDVIZ_QUESTIONS_PER_MINUTE", 300 if PUBLIC else 0)
STRANGER_REQUESTS_PER_MINUTE = number("SCHEDVIZ_STRANGER_REQUESTS_PER_MINUTE", 60 if PUBLIC else 60_000)

#: Rooms of one teacher (open or ended), participants of one room, forks of one participant, wrong codes and attempts to join per minute
#: from one address, hours without activity after which a room is ended, and seconds for which a browser is remembered as a participant.
ROOMS_PER_USER = number("SCHEDVIZ_ROOMS_PER_USER", 50 if PUBLIC else 200)
ROOM_PARTICIPANTS = number("SCHEDVIZ_ROOM_PARTICIPANTS", 300)
ROOM_FORKS = number("SCHEDVIZ_ROOM_FORKS", 5)
ROOM_TRIES_PER_MINUTE = number("SCHEDVIZ_ROOM_TRIES_PER_MINUTE", 10)
ROOM_JOINS_PER_MINUTE = number("SCHEDVIZ_ROOM_JOINS_PER_MINUTE", 1000)
ROOM_HOURS = number("SCHEDVIZ_ROOM_HOURS", 24)
ROOM_GUEST_SECONDS = 24 * 3600

#: Accounts and demo sandboxes per hour from one address.
MADE_PER_HOUR = number("SCHEDVIZ_MADE_PER_HOUR", 10)
#: Password attempts per minute from one address.
LOGINS_PER_MINUTE = number("SCHEDVIZ_LOGINS_PER_MINUTE", 10)
#: Wrong passwords per hour for one account, from all addresses together. 0: no limit.
WRONG_PASSWORDS_PER_HOUR = number("SCHEDVIZ_WRONG_PASSWORDS_PER_HOUR", 50)
#: OpenID Connect logins per minute from one address. Higher than LOGINS_PER_MINUTE because many people may share an address.
OIDC_LOGINS_PER_MINUTE = number("SCHEDVIZ_OIDC_LOGINS_PER_MINUTE", 60)
#: Number of proxies in front of this server. A client can write X-Forwarded-For itself, so its address is read from the entry that the
#: outermost of these proxies added. 0: X-Forwarded-For is ignored.
PROXIES = number("SCHEDVIZ_PROXIES", 0)

# --- /metrics covers everybody's sessions, so it is readable only with the token, from these networks, or by staff.

METRICS_TOKEN = os.environ.get("SCHEDVIZ_METRICS_TOKEN", "")
METRICS_FROM = networks("SCHEDVIZ_METRICS_FROM")
#: The most recently active sessions whose scheduler metrics are exported: each has some 300 series.
METRICS_SESSIONS = number("SCHEDVIZ_METRICS_SESSIONS", 100)

DATA_UPLOAD_MAX_MEMORY_SIZE = BODY_BYTES
DATA_UPLOAD_MAX_NUMBER_FILES = UPLOAD_FILES
#: Files that do not fit in memory are encrypted on disk.
FILE_UPLOAD_HANDLERS = ["schedviz.web.server.uploaded_files.SpooledUploads"]

# --- Accounts (docs/accounts.md)

#: Whether the owner of a session can add members by account name. Otherwise only invites add them, so that nobody can guess names.
FIND_USERS = flag("SCHEDVIZ_FIND_USERS", default=not PUBLIC)
#: Whether an account can be created with an invite from a session's owner. With an invite from staff it always can.
INVITES_MAKE_ACCOUNTS = flag("SCHEDVIZ_INVITES_MAKE_ACCOUNTS", default=not PUBLIC)
#: Days for which audit log entries are kept. 0: forever.
AUDIT_DAYS = number("SCHEDVIZ_AUDIT_DAYS", 90)
#: The OpenID Connect provider, such as https://login.example.org/realms/all. "": none.
OIDC_ISSUER = os.environ.get("SCHEDVIZ_OIDC_ISSUER", "")
OIDC_CLIENT_ID = os.environ.get("SCHEDVIZ_OIDC_CLIENT_ID", "")
OIDC_CLIENT_SECRET = os.environ.get("SCHEDVIZ_OIDC_CLIENT_SECRET", "")
OIDC_SCOPE = os.environ.get("SCHEDVIZ_OIDC_SCOPE", "openid profile email")
#: The label of the login button.
OIDC_NAME = os.environ.get("SCHEDVIZ_OIDC_NAME", "OpenID Connect")
#: Whether a first login creates an account.
OIDC_MAKES_ACCOUNTS = flag("SCHEDVIZ_OIDC_MAKES_ACCOUNTS", default=True)
#: The claim that lists groups, the group required to log in ("": none is required), and the group whose members are staff ("": none).
OIDC_GROUPS_CLAIM = os.environ.get("SCHEDVIZ_OIDC_GROUPS_CLAIM", "groups")
OIDC_GROUP = os.environ.get("SCHEDVIZ_OIDC_GROUP", "")
OIDC_STAFF_GROUP = os.environ.get("SCHEDVIZ_OIDC_STAFF_GROUP", "")
#: Whether visitors without an account see the demo sessions and get a sandbox each.
PUBLIC_DEMO = flag("SCHEDVIZ_PUBLIC_DEMO")
#: Visitors with a sandbox at one time, the minutes until a sandbox expires, and (below) the limits of one sandbox.
DEMO_VISITORS = number("SCHEDVIZ_DEMO_VISITORS", 200)
DEMO_MINUTES = number("SCHEDVIZ_DEMO_MINUTES", 60)
#: How often per minute a visitor may start over with a new sandbox.
DEMO_RESTARTS_PER_MINUTE = number("SCHEDVIZ_DEMO_RESTARTS_PER_MINUTE", 6)
#: Imports of files of all visitors together that may run at a time; at least SCHEDVIZ_IMPORTS_PER_USER.
DEMO_IMPORTS = number("SCHEDVIZ_DEMO_IMPORTS", 2)
DEMO_SESSIONS_PER_VISITOR = number("SCHEDVIZ_DEMO_SESSIONS_PER_VISITOR", 5)
DEMO_NODES_PER_VISITOR = number("SCHEDVIZ_DEMO_NODES_PER_VISITOR", 500)
DEMO_PODS_PER_VISITOR = number("SCHEDVIZ_DEMO_PODS_PER_VISITOR", 5000)
DEMO_OBJECTS_PER_VISITOR = number("SCHEDVIZ_DEMO_OBJECTS_PER_VISITOR", 10_000)
DEMO_CYCLES_PER_VISITOR = number("SCHEDVIZ_DEMO_CYCLES_PER_VISITOR", 20_000)
DEMO_BYTES_PER_VISITOR = number("SCHEDVIZ_DEMO_BYTES_PER_VISITOR", 50 * MEGABYTE)
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]

# --- Stores

DATABASE_URL = os.environ.get("SCHEDVIZ_DATABASE_URL") or f"sqlite:///{DATA / 'schedviz.sqlite3'}"
# An accepted command must survive a power failure; what a worker loses can be computed again.
DATABASES: dict[str, Any] = {"default": database(DATABASE_URL, synchronous="FULL" if ROLE == "web" else "NORMAL")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
REDIS_URL = os.environ.get("SCHEDVIZ_REDIS_URL") or "redis://127.0.0.1:6379/0"
# Per process, for rate limits by address. With few entries, a client with many addresses could evict its own counters.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 100_000}}}

# --- Celery. A wake-up may be lost or arrive twice: the sweeper sends lost ones again, and a duplicate does not get the lease.

CELERY_BROKER_URL = broker_url(REDIS_URL)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "socket_timeout": None,
    "socket_connect_timeout": 2,
    "socket_keepalive": True,
    # A sender does not wait for an unavailable Redis (kombu would retry for 6 s), because the sweeper sends lost wake-ups again.
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.05,
    "interval_max": 0.05,
}

# --- Django

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "schedviz.sessions",
    "schedviz.web",
    "schedviz.web.accounts",
    "schedviz.web.api",
    "schedviz.web.learning",
    "schedviz.web.rooms",
]
MIDDLEWARE = [
    "schedviz.web.metrics.middleware.RequestMetrics",
    "schedviz.web.request_log.RequestLog",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "schedviz.web.middleware.ContentSecurityPolicy",
    "schedviz.web.api.problem_middleware.ProblemResponses",
    "schedviz.web.middleware.StaticFiles",
    "schedviz.web.api.response_headers.ResponseHeaders",
    "schedviz.web.auth.cookies.InstanceSessions",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "schedviz.web.middleware.DatabaseDown",
]
ROOT_URLCONF = "schedviz.urls"
ASGI_APPLICATION = "schedviz.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
ALLOWED_HOSTS = host_names("SCHEDVIZ_ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = comma_separated("SCHEDVIZ_ORIGINS", [])
#: The public address of this server, such as https://schedviz.example.org. "": the address of the request.
URL = base_url("SCHEDVIZ_URL")
LANGUAGE_CODE = "en"
USE_TZ = True
TIME_ZONE = "UTC"
LOGIN_URL = "/login/"

# --- Static files. Names in the frontend's build contain a hash, so `collectstatic` is not needed.

STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/app/assets/.+-[A-Za-z0-9_-]{8}\.\w+$"

# --- Security

SESSION_COOKIE_NAME = f"schedviz_login_{INSTANCE}"
SESSION_COOKIE_AGE = 30 * 24 * 3600
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = f"schedviz_csrf_{INSTANCE}"
CSRF_COOKIE_SAMESITE = "Lax"
ROOM_GUEST_COOKIE = f"schedviz_guest_{INSTANCE}"
LINKS_COOKIE = f"schedviz_links_{INSTANCE}"
LOGIN_BROWSER_COOKIE = f"schedviz_browser_{INSTANCE}"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PUBLIC or URL.startswith("https://")
if PUBLIC or PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
if PUBLIC:
    SECURE_HSTS_SECONDS = 30 * 24 * 3600
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

#: Sites that may embed a panel of a session with a share link: origins such as https://wiki.example, or *. None: no site may.
EMBED_ORIGINS = embedding_sites("SCHEDVIZ_EMBED_ORIGINS")

# --- REST

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "schedviz.web.auth.authentication.BearerAuthentication",
        "schedviz.web.auth.authentication.CookieAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["schedviz.web.api.rendering.JsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["schedviz.web.api.parsing.JsonParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "schedviz.web.api.rendering.DocumentedTypes",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": ["schedviz.web.api.rate_limit.RequestRate"],
    "EXCEPTION_HANDLER": "schedviz.web.api.errors.error_response",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "schedviz",
    "DESCRIPTION": "Sessions of a simulated kube-scheduler: import a cluster, send commands, read what the scheduler did and why.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "OAS_VERSION": "3.1.0",
    "POSTPROCESSING_HOOKS": ["schedviz.web.api.openapi.add_components", "schedviz.web.api.examples.add_examples"],
}

# --- Logs: one line per event, to standard error. uvicorn's lines have the same format (web/server/server_log.py).

LOG_REQUESTS = flag("SCHEDVIZ_LOG_REQUESTS")
TRACES = flag("SCHEDVIZ_TRACES")

_processors: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
_log_as_json = choice("SCHEDVIZ_LOG", ("json", "console"), "console" if sys.stderr.isatty() else "json") == "json"
structlog.configure(
    processors=[*_processors, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=structlog.stdlib.BoundLogger,
    cache_logger_on_first_use=True,
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "structured": {
            "()": "structlog.stdlib.ProcessorFormatter",
            "foreign_pre_chain": _processors,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info if _log_as_json else (lambda _logger, _name, event: event),
                structlog.processors.JSONRenderer()
                if _log_as_json
                else structlog.dev.ConsoleRenderer(
                    # The default formatter prints the values of variables, which may contain uploaded data.
                    colors=sys.stderr.isatty(),
                    exception_formatter=structlog.dev.plain_traceback,
                ),
                redact_rendered,
            ],
        }
    },
    "filters": {
        # A 503 from /healthz is a regular response, not an error.
        "not_health": {
            "()": "django.utils.log.CallbackFilter",
            "callback": lambda record: getattr(getattr(record, "request", None), "path", "") != "/healthz",
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "schedviz": {"level": log_level("SCHEDVIZ_LOG_LEVEL"), "propagate": True},
        "django.request": {"level": "ERROR", "filters": ["not_health"]},
    },
}

VERSION = __version__
