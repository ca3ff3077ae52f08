/**
 * Node imports this file before each test file of a quick run: a program may be started in a way that imports do not
 * show. Node's permission model would refuse programs too, but it also refuses `fsync`, which an index needs.
 */
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

const refuse = (): never => {
  throw new Error('a quick run starts no program');
};
/** The asynchronous functions, and node:cluster, start a program by this method. */
Object.assign(childProcess.ChildProcess.prototype, { spawn: refuse });
Object.assign(childProcess, { spawnSync: refuse, execSync: refuse, execFileSync: refuse });
syncBuiltinESMExports();
