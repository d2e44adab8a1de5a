import { Server } from '@trailblaze/scripting';
import { TrailblazeClient } from '@trailblaze/client';

const server = new Server();

server.tool('my_tool', async (args, ctx) => {
    // fromContext extracts _meta.trailblaze from the request
    const tb = TrailblazeClient.fromContext(ctx);
    await tb.tap(100, 200);  // Invocation ID flows automatically
});

server.run();
