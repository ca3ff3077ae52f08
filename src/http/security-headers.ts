/** On every answer of both listeners: no browser guesses a type. */
export const EVERY_ANSWER = { 'x-content-type-options': 'nosniff' } as const;

/** A `Content-Security-Policy`: nothing is allowed but what is named. */
export function contentPolicy(allowed: Readonly<Record<string, string>>): string {
  const closed = ['form-action', 'base-uri', 'frame-ancestors'].filter((directive) => !(directive in allowed));
  const whole = [['default-src', "'none'"], ...Object.entries(allowed), ...closed.map((each) => [each, "'none'"])];
  return whole.map((directive) => directive.join(' ').trim()).join('; ');
}

/** Scripts, styles, images and requests of this address, nothing inline. */
export const OWN_FILES = {
  'script-src': "'self'",
  'style-src': "'self'",
  'connect-src': "'self'",
  'img-src': "'self'",
};

/** A document that brings its styles with it and asks for nothing. */
export const INLINE_STYLES = { 'style-src': "'unsafe-inline'", 'img-src': 'data:' };

/** Fields of an HTML document, beside those of every answer. */
export function documentFields(policy: string) {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    // Browsers refuse a sandboxed document that has an opener policy.
    ...(policy.includes('sandbox') ? {} : { 'cross-origin-opener-policy': 'same-origin' }),
  };
}
