// @ts-check
// `trailblaze types` writes trailblaze.d.ts, with which editors complete `tools.` and check this file.

/**
 * @param {TrailblazeArgs['NAME_OF_TOOL']} args
 * @param {TrailblazeScript} script
 */
export default async ({ text }, { screen, memory, log }) => {
  const { elements } = await screen();
  const found = elements.filter((element) => element.text?.includes(text));
  found.forEach(({ text, bounds }) => log(text, bounds));
  memory.set('count', found.length);
  return `${found.length} on the screen`;
};
