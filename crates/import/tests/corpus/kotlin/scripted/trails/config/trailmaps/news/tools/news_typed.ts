// origin: written for Trailblaze after the formats of the Kotlin Trailblaze; Apache-2.0
import { trailblaze } from '@trailblaze/scripting';

/** Opens the newest. */
export const news_open = trailblaze.tool<{ index: number }, string>(async ({ index }, ctx) => {
  await ctx.tools.tap({ text: `News ${index}` });
  return 'opened';
});
