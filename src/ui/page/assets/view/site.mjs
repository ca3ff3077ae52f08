// @ts-check
/**
 * What the page knows of the service besides an answer: set once, sent with the document.
 * @typedef {object} Site
 * @property {readonly SiteDomain[]} domains In configured order; the first is the default.
 * @property {import('./language.mjs').Language} preferred From Accept-Language.
 * @property {string} [explain] Address of the admin listener's explain, where people who see this page can reach it.
 * @property {readonly Example[]} examples Searches to offer on the first page.
 *
 * @typedef {object} SiteDomain
 * @property {string} name
 * @property {readonly import('../../../../search/domain.ts').Attribute[]} attributes
 * @property {readonly { readonly name: string, readonly values: readonly string[] }[]} context Those a query may carry;
 *   the first value is the default.
 *
 * @typedef {object} Example
 * @property {string} domain
 * @property {string} query
 */

/**
 * The domain a name means; the default for a name nobody configured, so that a refusal still has tabs around it.
 * @param {Site} site
 * @param {string} name
 * @returns {SiteDomain}
 */
export function domainOf(site, name) {
  const domain = site.domains.find((each) => each.name === name) ?? site.domains[0];
  if (domain === undefined) throw new Error('no domain is configured');
  return domain;
}
