/** The exit statuses of every program of the project; README.md has the same table. */
export const EXIT = {
  passed: 0,
  failed: 1,
  undecided: 2,
  notDone: 3,
  /** EX_USAGE of sysexits.h. */
  usage: 64,
  /** EX_CONFIG of sysexits.h: a supervisor must not restart the process in a loop. */
  configuration: 78,
} as const;

export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  passed: 'passed, or done',
  failed: 'the verdict is negative',
  undecided: 'undecided, or not measured',
  notDone: 'it could not be done',
  usage: 'wrong arguments, nothing was started',
  configuration: 'wrong configuration, nothing was started',
};

/** The last lines of every help. */
export const EXIT_HELP = `exit status:\n${Object.entries(EXIT_MEANINGS)
  .map(([name, meaning]) => `  ${String(EXIT[name as keyof typeof EXIT]).padStart(2)}  ${meaning}`)
  .join('\n')}`;
