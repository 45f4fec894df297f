export const SLOTS = 16_384;

/** CRC16 (XMODEM), as Redis Cluster uses it. */
const POLYNOMIAL = 0x1021;

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
  return crc;
});

/** The slot of all keys and channels whose first pair of braces holds this word. */
export function slotOf(word: string): number {
  let crc = 0;
  for (const byte of Buffer.from(word)) crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] ?? 0);
  return crc % SLOTS;
}
