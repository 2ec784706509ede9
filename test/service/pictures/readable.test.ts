import { expect, test } from 'vitest'
import { readableEvent, readableProperty } from '../../../src/service/pictures/readable.ts'

test.each([
  ['$pageview', 'Pageview'],
  ['$exception', 'Error'],
  ['$some_new_thing', 'Some new thing'],
  // Names of the product are its own.
  ['signed_up', 'signed_up'],
  ['Pageview', 'Pageview'],
  ['$', '$'],
  ['$$', '$$'],
  ['$9', '$9'],
  ['', ''],
  ['constructor', 'constructor'],
  ['$constructor', 'Constructor'],
])('event %j is %j', (name, text) => {
  expect(readableEvent(name)).toBe(text)
})

test.each([
  ['$current_url', 'URL'],
  ['$os', 'Operating system'],
  ['$geoip_country_code', 'Country code'],
  ['$viewport_height', 'Viewport height'],
  ['$my_url_id', 'My URL ID'],
  ['utm_source', 'UTM source'],
  ['$initial_referrer', 'Initial referrer'],
  ['$initial_current_url', 'Initial URL'],
  ['$initial_os', 'Initial operating system'],
  ['$initial_utm_source', 'Initial UTM source'],
  ['$initial_gclid', 'Initial gclid'],
  ['$initial_', 'Initial'],
  ['plan', 'plan'],
  ['is_trial', 'is_trial'],
])('property %j is %j', (name, text) => {
  expect(readableProperty(name)).toBe(text)
})
