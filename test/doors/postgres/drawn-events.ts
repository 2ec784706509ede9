import { drawFrom } from './drawn-selects.ts'
import type { SentEvent } from './served.ts'

// Events whose properties are missing now and then.

const draw = drawFrom(7)
export const events: readonly SentEvent[] = Array.from({ length: 60 }, (_, i) => ({
  event: i % 3 === 0 ? 'view' : 'buy',
  distinct_id: draw.one(['ann', 'bob', 'Carl', 'dora']),
  timestamp: new Date(Date.UTC(2024, 1, 27) + draw.below(9_000_000) * 100).toISOString(),
  properties: {
    ...(draw.chance(0.8) && { plan: draw.one(['pro', 'free', 'Basic', "it's", '']) }),
    ...(draw.chance(0.8) && { price: draw.one([0, 1, 2.5, 5, 7.25, -3]) }),
    ...(draw.chance(0.8) && { n: draw.below(9) }),
    ...(draw.chance(0.7) && { gift: draw.chance(0.5) }),
  },
}))
