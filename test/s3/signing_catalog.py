"""The sign endpoint of an Iceberg REST catalog, for a server whose keys it holds. Signs by itself (hmac of the standard library), so that it is
a second opinion on Firn's own signatures."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from http_server import HttpServer, QuietHandler

UNSIGNED = "UNSIGNED-PAYLOAD"


def sign(s3, method: str, uri: str, headers: dict[str, list[str]]) -> dict[str, list[str]]:
    """The headers with a signature, Version 4, of a body that is not covered."""
    url = urlsplit(uri)
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    out = {name.lower(): values for name, values in headers.items()}
    out |= {"host": [url.netloc], "x-amz-date": [now], "x-amz-content-sha256": [UNSIGNED]}
    query = sorted((quote(k, safe="-_.~"), quote(v, safe="-_.~")) for k, v in parse_qsl(url.query, keep_blank_values=True))
    names = sorted(out)
    canonical = "\n".join(
        [
            method,
            quote(unquote(url.path), safe="/-_.~"),
            "&".join(f"{k}={v}" for k, v in query),
            *(f"{name}:{','.join(out[name])}" for name in names),
            "",
            ";".join(names),
            UNSIGNED,
        ]
    )
    scope = f"{now[:8]}/{s3.region}/s3/aws4_request"
    key = ("AWS4" + s3.secret_key).encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    out["authorization"] = [f"AWS4-HMAC-SHA256 Credential={s3.access_key}/{scope}, SignedHeaders={';'.join(names)}, Signature={signature}"]
    return out


class SigningCatalog(HttpServer):
    def __init__(self, s3):
        self.asked: list[dict] = []
        self.refuse = False
        catalog = self

        class Handler(QuietHandler):
            def do_POST(self):
                ask = json.loads(self.rfile.read(int(self.headers["content-length"])))
                catalog.asked.append(ask)
                if catalog.refuse or self.path != "/v1/sign":
                    return self.reply(403, {"error": {"message": "not for you", "type": "ForbiddenException", "code": 403}})
                return self.reply(200, {"uri": ask["uri"], "headers": sign(s3, ask["method"], ask["uri"], ask["headers"])})

            def reply(self, status: int, answer: dict) -> None:
                body = json.dumps(answer).encode()
                self.send_response_only(status)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "private")
                self.end_headers()
                self.wfile.write(body)

        super().__init__(Handler)
