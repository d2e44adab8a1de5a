// acme_tools.ts
import { Server, Context } from '@trailblaze/scripting';
import { TrailblazeClient } from '@trailblaze/client';

const server = new Server();

server.tool('acme_driver_login', async (args: { email: string, password: string }, ctx: Context) => {
    // Context-aware client - supports multi-device automatically
    const tb = TrailblazeClient.fromContext(ctx);

    await tb.clearAppData('com.acme.driver');
    await tb.launchApp('com.acme.driver');
    await tb.tap({ text: 'Sign in' });
    await tb.inputText(args.email);
    await tb.inputText(args.password);
    return { success: true };
});

server.resource('trailblaze://registry', async () => ({
    tools: {
        acme_driver_login: {
            platforms: ['android', 'ios'],
            groups: ['auth'],
            exposedToLlm: true,
            isRecordable: true,
        }
    }
}));

server.run();
