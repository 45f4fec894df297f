/** An auction in the response of the auctions' service. */
interface Auction {
  readonly auctionId: string;
  readonly room: string;
}

/** The auctions that are on, fewer than properties. None ends: properties come under the hammer one after another. */
export const AUCTIONS: readonly Auction[] = [
  { auctionId: 'auction-1', room: 'Great hall' },
  { auctionId: 'auction-2', room: 'Orangery' },
  { auctionId: 'auction-3', room: 'Library' },
];
