"""Tests of an application: one server for all of them, and a tenant for each."""

import json
import unittest
import uuid
from urllib.request import Request, urlopen

from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

SCHEMA = "entity user {} entity document { relation viewer @user permission view = viewer }"

pemba = (
    DockerContainer("pemba")
    .with_command("serve --server-rate-limit 1000000000")
    .with_exposed_ports(3476, 3478)
    .waiting_for(HttpWaitStrategy(3476, "/healthz"))
)


def setUpModule():
    pemba.start()
    unittest.addModuleCleanup(pemba.stop)


def post(path, body):
    url = f"http://{pemba.get_container_host_ip()}:{pemba.get_exposed_port(3476)}"
    with urlopen(Request(url + path, json.dumps(body).encode())) as answer:
        return json.load(answer)


class Documents(unittest.TestCase):
    def setUp(self):
        """Makes a tenant that no other test has."""
        id = str(uuid.uuid4())
        post("/v1/tenants/create", {"id": id, "name": id})
        self.tenant = f"/v1/tenants/{id}"
        post(f"{self.tenant}/schemas/write", {"schema": SCHEMA})

    def check(self, user):
        question = {
            "metadata": {},
            "entity": {"type": "document", "id": "plan"},
            "permission": "view",
            "subject": {"type": "user", "id": user},
        }
        return post(f"{self.tenant}/permissions/check", question)["can"]

    def test_a_viewer_may_view(self):
        viewer = {
            "entity": {"type": "document", "id": "plan"},
            "relation": "viewer",
            "subject": {"type": "user", "id": "ada"},
        }
        post(f"{self.tenant}/data/write", {"metadata": {}, "tuples": [viewer]})
        self.assertEqual(self.check("ada"), "RESULT_ALLOWED")

    def test_a_stranger_may_not(self):
        self.assertEqual(self.check("eve"), "RESULT_DENIED")
