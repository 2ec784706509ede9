import { isObject } from '../../../lib/is-object.ts'
import type { Organization } from '../records.ts'
import type { Json } from '../store.ts'

// What plans of the hosted product sell one by one. Nothing is sold here, so organizations have all of them unless an operator takes one away.

const names = {
  organizations_projects: 'Multiple projects',
  project_based_permissioning: 'Project permissions',
  role_based_access: 'Roles',
  sso_enforcement: 'Single sign-on enforcement',
  saml: 'SAML',
  group_analytics: 'Group analytics',
  data_pipelines: 'Data pipelines',
  managed_reverse_proxy: 'Managed reverse proxy',
  high_frequency_batch_exports: 'Exports every five minutes',
} as const
export type FeatureKey = keyof typeof names

export const allFeatures = (): Json =>
  Object.entries(names).map(([key, name]) => ({ key, name, description: '', unit: null, limit: null, note: null }))

export const featureKeys = (organization: Organization): string[] => {
  const held = organization.available_product_features
  return Array.isArray(held)
    ? held.flatMap((one) => (one && typeof one === 'object' && !Array.isArray(one) ? [String((one as { key?: Json }).key)] : []))
    : []
}
/** The limit of a feature; null: unlimited. */
export const featureLimit = (organization: Organization, key: FeatureKey): number | null => {
  const held = organization.available_product_features
  const all = Array.isArray(held) ? (held as readonly Json[]) : []
  const found = all.find((one) => isObject(one) && one.key === key) as { readonly limit?: Json } | undefined
  return typeof found?.limit === 'number' ? found.limit : null
}
export const hasFeature = (organization: Organization, key: FeatureKey): boolean => featureKeys(organization).includes(key)
