// origin: written for Trailblaze after the formats of the Kotlin Trailblaze; Apache-2.0
import { trailblaze } from '@trailblaze/scripting';
import { z } from 'zod';

trailblaze.tool('news_count', { description: 'Count the news.', inputSchema: { text: z.string() } }, async ({ text }) => text);

await trailblaze.run();
