import { Server } from '@trailblaze/scripting';

const search = async (query: string) => `found ${query}`;

const server = new Server(
  { name: "my-tools", version: "1.0.0" },
  { capabilities: { tools: {} } },
);
server.registerTool(
  {
    name: "fetchUserInfo",
    description: "Fetch user info from the backend API",
    inputSchema: { /* … */ },
    annotations: {
      // Standard MCP hints stay here.
      readOnlyHint: true,
    },
    _meta: {
      // Trailblaze-specific namespace rides in _meta.
      "trailblaze/isForLlm": true,
      "trailblaze/isRecordable": true,
      "trailblaze/requiresHost": true, // needs host-agent mode
      "trailblaze/supportedDrivers": ["android-ondevice-accessibility"], // driver-specific
      "trailblaze/supportedPlatforms": ["ANDROID"], // coarser: any Android driver
      "trailblaze/toolset": "auth", // pushes this tool into the `auth` toolset
      "trailblaze/requiresContext": true, // optional; hides this tool under pure MCP clients
    },
  },
  async ({ userId, _trailblazeContext }) => { /* … */ return { userId, platform: _trailblazeContext?.device.platform }; },
);
server.registerTool(
  { name: "search", inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"], additionalProperties: false } },
  async ({ query }) => {
    return { content: [{ type: "text", text: await search(query as string) }], isError: false };
  },
);
server.registerTool(
  { name: "memorizeCurrentScreen", inputSchema: { /* … */ } },
  async ({ label, _trailblazeContext }) => {
    if (!_trailblazeContext) {
      return {
        content: [{ type: "text", text: "Requires Trailblaze host context." }],
        isError: true,
      };
    }
    const { device, memory } = _trailblazeContext;
    return { label, width: device.widthPixels, memory };
  },
);
// In the words of MCP's `McpServer`.
server.registerTool("named", { title: "Named" }, ({ _trailblazeContext }) => `${_trailblazeContext?.device.driverType}`);
await server.run();
