/** The server that Trailblaze starts. The tools are in other files, so that tests can load them without starting it. */

import { run } from '@trailblaze/scripting';

import './NAME_OF_TOOL.ts';

await run();
