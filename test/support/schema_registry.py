"""A small schema registry that speaks Confluent's REST protocol: schemas by id, versions of subjects, references, basic authentication."""

from __future__ import annotations

import base64
import io
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import fastavro


class SchemaRegistry:
    """`with SchemaRegistry() as registry:`; it answers on `registry.url`. `stop` and `start` take it away and bring it back on the same port."""

    def __init__(self, user: str | None = None, password: str | None = None):
        self.schemas: dict[int, dict] = {}
        self.subjects: dict[str, list[int]] = {}
        self.requests: list[str] = []
        self._expected = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode() if user else None
        self._server: ThreadingHTTPServer | None = None
        self._port = 0

    def __enter__(self) -> SchemaRegistry:
        self.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                registry.requests.append(self.path)
                status, body = registry._answer(self.path, self.headers.get("Authorization"))
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        ThreadingHTTPServer.allow_reuse_address = True
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def register(self, subject: str, schema: dict | str, references: list[dict] | None = None, schema_type: str | None = None) -> int:
        """The id of the schema, a new one unless the same is there already."""
        text = schema if isinstance(schema, str) else json.dumps(schema)
        entry = {"schema": text}
        if references:
            entry["references"] = references
        if schema_type:
            entry["schemaType"] = schema_type
        schema_id = next((known for known, other in self.schemas.items() if other == entry), len(self.schemas) + 1)
        self.schemas[schema_id] = entry
        versions = self.subjects.setdefault(subject, [])
        if schema_id not in versions:
            versions.append(schema_id)
        return schema_id

    def _answer(self, path: str, authorization: str | None):
        if self._expected and authorization != self._expected:
            return 401, {"error_code": 401, "message": "Unauthorized"}
        match [unquote(part) for part in path.split("?")[0].strip("/").split("/")]:
            case ["schemas", "ids", schema_id]:
                if int(schema_id) in self.schemas:
                    return 200, self.schemas[int(schema_id)]
                return 404, {"error_code": 40403, "message": f"Schema {schema_id} not found"}
            case ["subjects", subject, "versions", version]:
                ids = self.subjects.get(subject)
                if ids is None:
                    return 404, {"error_code": 40401, "message": f"Subject '{subject}' not found."}
                number = len(ids) if version == "latest" else int(version)
                if not 1 <= number <= len(ids):
                    return 404, {"error_code": 40402, "message": f"Version {version} not found."}
                return 200, {"subject": subject, "version": number, "id": ids[number - 1], **self.schemas[ids[number - 1]]}
        return 404, {"error_code": 404, "message": "HTTP 404 Not Found"}


def frame(schema_id: int, schema: dict, record: dict) -> bytes:
    """A record in Confluent's wire format."""
    out = io.BytesIO()
    out.write(b"\x00" + schema_id.to_bytes(4, "big"))
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), record)
    return out.getvalue()
