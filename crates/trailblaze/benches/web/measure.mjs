// How often something is done, how long it took, and how that is told: one line of JSON.
export const RUNS = Number(process.argv[2] ?? 20);
export const WARM_UP = 3;

if (!Number.isInteger(RUNS) || RUNS < 1) {
  console.error(`error: \`${process.argv[2]}\` is no number of runs`);
  process.exit(3);
}

// `run` is timed; `before` makes ready and `after` judges, and they are not.
export async function measure(run, { before = async () => {}, after = async () => {} } = {}) {
  const times = [];
  for (let n = 0; n < WARM_UP + RUNS; n++) {
    await before();
    const started = performance.now();
    const result = await run();
    const took = performance.now() - started;
    await after(result);
    // The first in a fresh browser is told apart from the others.
    if (n === 0) times.first = took;
    if (n >= WARM_UP) times.push(took);
  }
  return times;
}

export function tell(name, times, more = {}) {
  const sorted = [...times].sort((a, b) => a - b);
  const round = (ms) => Math.round(ms * 1000) / 1000;
  const p50 = sorted[Math.floor(sorted.length / 2)];
  console.log(JSON.stringify({
    name, runs: times.length, p50Ms: round(p50), minMs: round(sorted[0]), maxMs: round(sorted.at(-1)), firstMs: round(times.first ?? p50), ...more, timesMs: times.map(round),
  }));
}
