/** Where an annotation is shown; `dashboard_item` is an insight. */
export const annotationScopes = ['dashboard_item', 'dashboard', 'project', 'organization'] as const
