"""A merchant's receiver around the example of the documentation, in the folder that the first argument names.

It answers 200 to what is genuine and 401 to what is not. PUT /trust {"keys": [PEM], "now": milliseconds} says which keys
are trusted, and what time it is.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

sys.path.insert(0, sys.argv[1])
from documented import is_genuine  # noqa: E402

trust = {"keys": [], "now": 0}


class Receiver(BaseHTTPRequestHandler):
    def body(self):
        return self.rfile.read(int(self.headers["content-length"]))

    def do_PUT(self):
        trust.update(json.loads(self.body()))
        self.answer(200)

    def do_POST(self):
        genuine = is_genuine(self.headers, self.body(), trust["keys"], trust["now"] / 1000)
        self.answer(200 if genuine else 401)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
