/** Prints a token that holds for a day: `node --env-file=.env token.mjs <id> <role> <warehouse> …` */
import { createHmac } from 'node:crypto';

const [id = 'ann', role = 'picker', ...warehouses] = process.argv.slice(2);
const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const iat = Math.floor(Date.now() / 1000);
const claims = { sub: id, role, warehouses, iat, exp: iat + 24 * 60 * 60 };
const text = `${encode({ alg: 'HS256' })}.${encode(claims)}`;
const signature = createHmac('sha256', process.env.AUTH_SECRET).update(text).digest('base64url');
process.stdout.write(`${text}.${signature}\n`);
