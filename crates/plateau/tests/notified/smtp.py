"""A mail server that prints its port and appends each mail to a file as one JSON document.

Arguments: the file, and optionally a certificate with its key; then the server requires STARTTLS, the user "lab" and the
password "pass word".
"""

import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


class Handler:
    async def handle_DATA(self, server, session, envelope):
        mail = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "message": envelope.content.decode(),
            "encrypted": session.ssl is not None,
            "authenticated": session.authenticated,
        }
        with open(sys.argv[1], "a") as file:
            file.write(json.dumps(mail) + "\n")
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    return AuthResult(success=(data.login, data.password) == (b"lab", b"pass word"))


async def serve():
    options = {}
    if len(sys.argv) > 2:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*sys.argv[2:])
        options = {"tls_context": context, "require_starttls": True, "auth_required": True, "authenticator": authenticate}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(Handler(), **options), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(serve())
