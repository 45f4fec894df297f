/** An agent in the response of the agents' service. */
interface AgentContact {
  readonly agentId: string;
  readonly email: string;
  readonly languages: readonly string[];
  readonly officeHours: string;
}

/** A bidder in the response of the bidders' service. */
interface BidderProfile {
  readonly bidderId: string;
  readonly displayName: string;
  readonly city: string;
  readonly memberSince: string;
  readonly auctionsWon: number;
}

export const AGENT_CONTACTS: readonly AgentContact[] = [
  {
    agentId: 'agent-1',
    email: 'marit@gracht.example',
    languages: ['nl', 'en'],
    officeHours: 'Mon–Fri 9:00–17:30',
  },
  {
    agentId: 'agent-2',
    email: 'jonas@hafenblick.example',
    languages: ['de', 'en', 'da'],
    officeHours: 'Mon–Sat 10:00–18:00',
  },
  {
    agentId: 'agent-3',
    email: 'ines@tejo.example',
    languages: ['pt', 'es'],
    officeHours: 'Tue–Sat 9:30–19:00',
  },
];

export const BIDDER_PROFILES: readonly BidderProfile[] = [
  { bidderId: 'bidder-1', displayName: 'A. Okafor', city: 'London', memberSince: '2014', auctionsWon: 9 },
  { bidderId: 'bidder-2', displayName: 'L. Brandt', city: 'Hamburg', memberSince: '2021', auctionsWon: 1 },
  { bidderId: 'bidder-3', displayName: 'S. Moreau', city: 'Lyon', memberSince: '2018', auctionsWon: 4 },
  { bidderId: 'bidder-4', displayName: 'K. Tanaka', city: 'Rotterdam', memberSince: '2019', auctionsWon: 2 },
  { bidderId: 'bidder-5', displayName: 'R. Lindqvist', city: 'Malmö', memberSince: '2023', auctionsWon: 0 },
];
