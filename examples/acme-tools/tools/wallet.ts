/** A server with @trailblaze/scripting. The tools are in other files, so that tests can load them without starting it. */

import { run } from '@trailblaze/scripting';

import './payments.ts';

await run({ name: 'acme-wallet', version: '1.0.0' });
