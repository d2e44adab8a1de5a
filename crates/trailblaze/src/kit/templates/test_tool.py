"""Unit tests of the tool, without a device and without Trailblaze."""

import unittest

from fastmcp import Client
from trailblaze.testing import FakeDevice

from NAME_OF_TOOL_tool import tools


class NewEmail(unittest.IsolatedAsyncioTestCase):
    async def test_an_address_is_remembered(self):
        async with Client(tools) as client:
            made = await client.call_tool("NAME_OF_TOOL", {"name": "ada"})
        email = made.content[0].text
        self.assertRegex(email, r"^ada\+[0-9a-f]{8}@example\.com$")
        self.assertEqual(made.meta["trailblaze"], {"memoryDelta": {"email": email}})

    async def test_two_addresses_differ(self):
        async with Client(tools) as client:
            made = [await client.call_tool("NAME_OF_TOOL", {"name": "ada"}) for _ in range(2)]
        self.assertNotEqual(made[0].content[0].text, made[1].content[0].text)

    async def test_it_is_typed_into_a_field(self):
        with FakeDevice() as device:
            device.show("Email")
            async with Client(tools) as client:
                made = await client.call_tool("NAME_OF_TOOL", {"name": "ada", "field": "Email"}, meta=device.meta)
            self.assertEqual([call.tool for call in device.calls], ["tap", "inputText"])
            self.assertEqual(device.typed, [made.content[0].text])


if __name__ == "__main__":
    unittest.main()
