import { botFilter } from './bot-filter.ts'
import type { BundledPlugin } from './definition.ts'
import { geoip } from './geoip.ts'
import { mirror } from './mirror.ts'
import { piiHashing } from './pii-hashing.ts'
import { propertyFilter } from './property-filter.ts'
import { urlNormalizer } from './url-normalizer.ts'
import { webhook } from './webhook.ts'

export const bundledPlugins: readonly BundledPlugin[] = [geoip, propertyFilter, urlNormalizer, botFilter, piiHashing, webhook, mirror]
