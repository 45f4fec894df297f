/**
 * The part of the story's events that clients do not ask for: the whole property, in the form of the service that owns
 * the property. The object has some 270 keys, in objects and arrays.
 */
export function property(): object {
  return {
    propertyId: 'P-2041',
    listingStatus: 'ACTIVE',
    yearBuilt: 1987,
    lotSizeSquareFeet: 7_405,
    livingAreaSquareFeet: 2_310,
    isVacant: false,
    lastInspectedAt: '2026-11-02T09:30:00Z',
    streetAddress: {
      houseNumber: '17',
      streetName: 'Sluice Lane',
      cityName: 'Springfield',
      countyName: 'Lane',
      stateCode: 'OR',
      postalCode: '97477',
      geoLocation: { latitudeDegrees: 44.05, longitudeDegrees: -123.02 },
    },
    sellerAccount: { accountId: 'S-9', displayName: 'First Bank', contactEmail: 's@example.org' },
    auctionTerms: {
      startsAt: '2026-11-20T15:00:00Z',
      endsAt: '2026-11-22T15:00:00Z',
      reservePriceCents: 21_000_000,
      buyerPremiumBasisPoints: 500,
      earnestDepositCents: 1_050_000,
    },
    listingAgents: times(3, (agent) => ({
      agentId: `A-${agent}`,
      fullName: 'Ann Agent',
      licenseNumber: `L-${agent}`,
      phoneNumber: '555-0100',
    })),
    photoGallery: times(20, (photo) => ({
      imageUrl: `/photos/${photo}.jpg`,
      thumbnailUrl: `/photos/${photo}-small.jpg`,
      widthPixels: 1_600,
      heightPixels: 1_200,
      takenAt: '2026-10-01T12:00:00Z',
    })),
    recentBids: times(20, (bid) => ({
      bidId: `B-${bid}`,
      bidderAccountId: `U-${bid % 7}`,
      amountCents: 19_000_000 + bid * 50_000,
      placedAt: '2026-11-21T10:00:00Z',
      isProxyBid: bid % 3 === 0,
    })),
    priceHistory: times(6, (change) => ({
      changedAt: `2026-0${change + 1}-01`,
      priceCents: 25_000_000 - change * 500_000,
      changeReason: 'MARKET',
    })),
  };
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
