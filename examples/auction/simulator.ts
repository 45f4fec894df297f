import { AUCTIONS } from './auctions.ts';
import { PROPERTIES, type Property } from './properties.ts';

/** One message as a producer would send it to Kafka. */
export interface SimulatedMessage {
  readonly topic: string;
  readonly key: string;
  readonly value: object;
}

interface Bidder {
  readonly bidderId: string;
  readonly paddleNumber: number;
  readonly displayName: string;
}

/** A property under the hammer. */
interface Lot {
  readonly auctionId: string;
  readonly property: Property;
  state: 'OPEN' | 'CLOSING' | 'SOLD' | 'PASSED_IN';
  closesAt: number;
  bidCount: number;
  /** 0 before the first bid. */
  highest: number;
  leader: Bidder | undefined;
}

const BIDDERS: readonly Bidder[] = [
  { bidderId: 'bidder-1', paddleNumber: 104, displayName: 'A. Okafor' },
  { bidderId: 'bidder-2', paddleNumber: 117, displayName: 'L. Brandt' },
  { bidderId: 'bidder-3', paddleNumber: 122, displayName: 'S. Moreau' },
  { bidderId: 'bidder-4', paddleNumber: 138, displayName: 'K. Tanaka' },
  { bidderId: 'bidder-5', paddleNumber: 151, displayName: 'R. Lindqvist' },
];

const LOT_MS = 120_000;
const FEWEST_BIDS = 4;

/**
 * Simulates an auction house, without end: properties change, bids rise, properties are sold or passed in, and the
 * auction goes on with the one that has waited longest. So there are always bids in each of the AUCTIONS.
 *
 * @param random like Math.random; the same numbers make the same events
 * @param now milliseconds since 1970
 */
export function* simulate(random: () => number, now: () => number): Generator<SimulatedMessage, never> {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const waiting = [...PROPERTIES];
  let bids = 0;
  let changes = 0;

  const open = (auctionId: string): Lot => ({
    auctionId,
    property: waiting.shift() as Property,
    state: 'OPEN',
    closesAt: now() + LOT_MS,
    bidCount: 0,
    highest: 0,
    leader: undefined,
  });

  const lots = AUCTIONS.map(({ auctionId }) => open(auctionId));
  for (const lot of lots) yield statusOf(lot, now());
  for (;;) {
    const index = Math.floor(random() * lots.length);
    const lot = lots[index] as Lot;
    const chance = random();
    if (lot.state === 'SOLD' || lot.state === 'PASSED_IN') {
      const next = open(lot.auctionId);
      waiting.push(lot.property);
      lots[index] = next;
      yield statusOf(next, now());
    } else if (chance < 0.35) {
      yield changeOf(lot.property, ++changes, pick(['asking_price', 'photos', 'headline']), random, now());
    } else if (chance < 0.8 || lot.bidCount < FEWEST_BIDS) {
      const raise = 5_000 * (1 + Math.floor(random() * 5));
      const bidder = pick(BIDDERS.filter((other) => other !== lot.leader));
      const isProxyBid = random() < 0.2;
      const before = lot.highest;
      lot.highest = before === 0 ? Math.round(lot.property.askingPrice.value * 0.8) : before + raise;
      lot.leader = bidder;
      lot.bidCount++;
      yield bidOf(lot, `bid-${++bids}`, before, isProxyBid, now());
      if (lot.state === 'CLOSING') {
        // A late bid postpones the end.
        lot.state = 'OPEN';
        lot.closesAt = now() + LOT_MS / 4;
        yield statusOf(lot, now());
      }
    } else if (lot.state === 'CLOSING') {
      lot.state = lot.highest >= lot.property.askingPrice.value * 0.82 ? 'SOLD' : 'PASSED_IN';
      yield statusOf(lot, now());
    } else {
      lot.state = 'CLOSING';
      yield statusOf(lot, now());
    }
  }
}

function bidOf(
  { auctionId, property, highest, leader }: Lot,
  bidId: string,
  before: number,
  isProxyBid: boolean,
  now: number,
): SimulatedMessage {
  const { currency } = property.askingPrice;
  const value = {
    bidId,
    auctionId,
    propertyId: property.propertyId,
    amount: { value: highest, currency },
    raise: before === 0 ? null : { value: highest - before, currency },
    bidder: leader,
    placedAt: new Date(now).toISOString(),
    isProxyBid,
  };
  return { topic: 'bids', key: auctionId, value };
}

function statusOf(lot: Lot, now: number): SimulatedMessage {
  const { auctionId, property, state, closesAt, bidCount, highest, leader } = lot;
  const isOver = state === 'SOLD' || state === 'PASSED_IN';
  const value = {
    auctionId,
    propertyId: property.propertyId,
    state,
    changedAt: new Date(now).toISOString(),
    closesAt: isOver ? null : new Date(closesAt).toISOString(),
    bidCount,
    highestBid: highest === 0 ? null : { value: highest, currency: property.askingPrice.currency },
    winner: state === 'SOLD' ? leader : null,
  };
  return { topic: 'auction-status', key: auctionId, value };
}

function changeOf(
  property: Property,
  count: number,
  changed: string,
  random: () => number,
  now: number,
): SimulatedMessage {
  const { propertyId, headline, askingPrice } = property;
  const cut = changed === 'asking_price' ? 1 - Math.floor(random() * 5) / 100 : 1;
  const value = {
    ...property,
    updatedAt: new Date(now).toISOString(),
    changedFields: [changed],
    headline: changed === 'headline' ? `${headline} – viewing by appointment` : headline,
    askingPrice: { ...askingPrice, value: Math.round(askingPrice.value * cut) },
    photos: ['front', 'living-room', 'kitchen'].map((room, index) => ({
      photoId: `${propertyId}-photo-${changed === 'photos' ? count * 10 + index : index}`,
      url: `https://photos.example.com/${propertyId}/${room}.jpg`,
      caption: room.replace('-', ' '),
      isCover: index === 0,
    })),
  };
  return { topic: 'property-updates', key: propertyId, value };
}
