type Env = Readonly<Record<string, string | undefined>>;

/** @throws Error that names the variable and what is allowed, also when it is missing and there is no default. */
export function numberOf(
  env: Env,
  name: string,
  range: readonly [least: number, most: number],
  otherwise?: number,
): number {
  const text = env[name];
  if (text === undefined || text === '') {
    if (otherwise !== undefined) return otherwise;
    throw new Error(`${name} is missing; allowed: a number from ${range[0]} to ${range[1]}`);
  }
  const value = Number(text);
  if (value >= range[0] && value <= range[1]) return value;
  throw new Error(`${name}: "${text}" is not allowed; a number from ${range[0]} to ${range[1]} is`);
}
