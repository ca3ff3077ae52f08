import Type from 'typebox';
import { choice, flag, host, optional, text } from './fields.ts';
import { closed } from './sections.ts';

const FILES = 'Files are read once, at start; relative paths start at the working directory.';

/** Of a client: whom it trusts, and what it shows of itself. */
const client = {
  ca: optional(text('PEM file of the certificate authorities to trust; without it, those that Node brings.')),
  cert: optional(text('PEM file of the client certificate.')),
  key: optional(text('PEM file of its private key.')),
  serverName: optional(host('Name expected in the server certificate, when it is not the address.')),
};

export const storeTls = Type.Object(
  {
    ...client,
    rejectUnauthorized: flag('Refuse servers whose certificate cannot be verified; off is warned of at each start.', {
      default: true,
    }),
  },
  closed(`Speak TLS to the store. ${FILES}`),
);

export const engineTls = Type.Object(
  {
    mode: optional(
      choice(
        ['mysql', 'tunnel'],
        'Where TLS begins: within the MySQL handshake, as Manticore with `ssl_cert` does it, or before it, as stunnel, HAProxy or ghostunnel in front of a searchd do.',
        { 'x-default': '`mysql` with `manticore`; `tunnel` with `sphinx`, which has no TLS of its own' },
      ),
    ),
    ...client,
  },
  closed(`Speak TLS to the engine; a server without it, or with another certificate, gets no query. ${FILES}`),
);

export const listenerTls = Type.Object(
  {
    cert: text('PEM file of the certificate, followed by those of intermediate authorities.'),
    key: text('PEM file of its private key.'),
  },
  closed(`Take TLS connections only, 1.2 or newer. ${FILES} A renewed certificate needs a restart.`),
);
