/** The image's health check: `node health.mjs /livez`, or `/readyz`. Ends with 1 unless the gateway answers 200. */
const [path = '/livez'] = process.argv.slice(2);
const { ADMIN_BIND = '' } = process.env;
const host = ['', '::', '0.0.0.0'].includes(ADMIN_BIND) ? '127.0.0.1' : ADMIN_BIND;
const response = await fetch(
  `http://${host.includes(':') ? `[${host}]` : host}:${process.env.ADMIN_PORT || 4001}${path}`,
);
process.stdout.write(await response.text());
// Not process.exit(): what was written may still be on its way.
process.exitCode = response.ok ? 0 : 1;
