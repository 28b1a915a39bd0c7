/** Stable views for finance, made anew whenever a read model below them is published. */
export const financeViews = ''
