/** A program that taps, as other tests start it. */

import { TrailblazeClient } from '@trailblaze/client';

const { ADDRESS, INVOCATION, TWICE } = process.env;
for (let n = 0; n < (TWICE === undefined ? 1 : 2); n += 1) {
  const tb = new TrailblazeClient(ADDRESS, { invocationId: INVOCATION });
  const { message } = await tb.tap({ text: 'Pay' });
  if (n === 0) {
    console.log(message);
  }
}
