import { createService } from './app.ts';
import { EXIT, type ParsedArguments, type Program, projectVersion, runProgram } from './commands/arguments.ts';
import { CONFIG_OPTION } from './commands/command.ts';
import { makeDemoIndexes, settingsOf } from './commands/demo.ts';
import { greeting, hasTerminal, openRemarks } from './commands/terminal.ts';
import { settingsWarnings } from './config/load.ts';
import { createLogger } from './metrics/logger.ts';
import { endFailedReaders, systemClock } from './runtime.ts';

const PROGRAM: Program = {
  command: 'npm start --',
  usage: '[--config FILE]',
  about: [
    'Starts the service; SIGTERM or Ctrl-C ends it. The first start without a configuration makes the demo catalogue. HOST,',
    'PORT, ADMIN_HOST, ADMIN_PORT, ADMIN_TOKEN and LOG_LEVEL override the configuration; all settings:',
    'npm run serpcache -- config reference.',
  ],
  options: [CONFIG_OPTION],
  takes: { min: 0, max: 0 },
};

/** `npm start`: reads the configuration, builds missing demo indexes, listens, and shuts down gracefully. */
async function main(words: ParsedArguments): Promise<number> {
  const trial = { named: words.text('config'), makesToken: true };
  const { settings, config, tokenFile } = settingsOf(process.env, trial);
  const version = projectVersion();
  const logging = createLogger({ level: settings.log.level, version });
  const { log } = logging;
  endFailedReaders((error) => log.error({ err: error }, 'a connection was ended: the library that reads it failed'));
  const leaving = new AbortController();
  const signalled = Promise.withResolvers<NodeJS.Signals>();
  void signalled.promise.then(() => leaving.abort());
  // Later signals are ignored: Ctrl-C under npm arrives twice, and the shutdown takes less than 5 s.
  process.on('SIGTERM', signalled.resolve).on('SIGINT', signalled.resolve);
  // A closed terminal ends what was started in it. Elsewhere, nohup included, SIGHUP asks a service to read its settings
  // again; this one reads them at the start only, and goes on.
  const ignore = (signal: string): void => log.info({ signal }, 'signal ignored: settings are read at the start only');
  process.on('SIGHUP', hasTerminal() ? signalled.resolve : ignore);

  const remarks = openRemarks();
  await makeDemoIndexes(settings, { clock: systemClock, output: remarks, signal: leaving.signal });
  if (leaving.signal.aborted) return EXIT.passed;
  for (const warning of settingsWarnings(settings)) log.warn(warning);
  const service = await createService({ ...logging, settings, clock: systemClock, random: Math.random, version });
  try {
    const { publicUrl, adminUrl } = await service.listen();
    log.info({ publicUrl, adminUrl, pid: process.pid }, 'listening');
    remarks.write(greeting({ publicUrl, adminUrl, config, tokenFile, isReadOnly: settings.admin.token === undefined }));
    log.info({ signal: await signalled.promise }, 'leaving: draining connections');
  } finally {
    await service.close();
    log.info('left');
  }
  return EXIT.passed;
}

const status = await runProgram(PROGRAM, main);
// After a failure, open handles could keep the process alive.
if (status !== EXIT.passed) process.exit(status);
// After the shutdown nothing may keep the process alive: a handle that a library left open costs one second.
setTimeout(() => process.exit(status), 1000).unref();
