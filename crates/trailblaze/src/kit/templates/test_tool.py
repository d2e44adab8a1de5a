"""Unit tests of the tool, without a device and without Trailblaze."""

import unittest

from fastmcp import Client

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


if __name__ == "__main__":
    unittest.main()
