/**
 * @typedef {{ readonly token: string, readonly operator: string }} Pass
 * @typedef {object} Access
 * @property {() => Pass | undefined} pass
 * @property {(pass: Pass | undefined) => void} set
 * @property {(used: Pass | undefined, byPerson: boolean) => Promise<boolean>} renew After a 401 with `used`: true when
 *   there is another one to try.
 */

/**
 * The token, in this variable and nowhere else: a reload forgets it, and so does whoever looks at the disk.
 * @param {(refused: boolean) => Promise<Pass | undefined>} prompt Asks the person; undefined: they would not say.
 * @param {() => void} changed
 * @returns {Access}
 */
export function createAccess(prompt, changed) {
  /** @type {Pass | undefined} */
  let pass;
  /** @type {Promise<Pass | undefined> | undefined} */
  let asking;
  let declined = false;

  return {
    pass: () => pass,
    set: (next) => {
      pass = next;
      declined = false;
      changed();
    },
    renew: async (used, byPerson) => {
      if (pass !== used) return pass !== undefined;
      // What the console asks by itself, every second, must not open again what the person has just closed.
      if (declined && !byPerson) return false;
      asking ??= prompt(used !== undefined).finally(() => {
        asking = undefined;
      });
      const given = await asking;
      declined = given === undefined;
      if (given !== undefined) pass = given;
      changed();
      return given !== undefined;
    },
  };
}
