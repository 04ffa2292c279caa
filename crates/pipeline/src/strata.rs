//! Rows dealt out so that every part has its share of each class.

/// Groups of rows, each of one class, in an order in which every run of groups has each class in
/// proportion. The groups of a class keep their order. The only group of a class is left out: its
/// rows can only be fitted.
///
/// The j-th row of n_k of class k has the place (j + u_k)/n_k in the order. The phases u_k differ,
/// so that the first rows of rare classes do not come together.
pub(crate) fn stratified(parts: Vec<Vec<usize>>, of: &[usize]) -> Vec<Vec<usize>> {
    let classes = of.iter().max().map_or(0, |last| last + 1);
    let class = |part: &[usize]| part.first().map_or(0, |&row| of[row]);
    let (mut rows, mut count) = (vec![0; classes], vec![0; classes]);
    for part in &parts {
        rows[class(part)] += part.len();
        count[class(part)] += 1;
    }
    if count.iter().all(|count| *count < 2) {
        return parts;
    }
    let mut before = vec![0; classes];
    let mut placed: Vec<(f64, usize, Vec<usize>)> = Vec::new();
    for part in parts {
        let k = class(&part);
        let phase = (0.5 + GOLDEN * k as f64).fract();
        let place = (before[k] as f64 + phase) / rows[k] as f64;
        before[k] += part.len();
        if count[k] > 1 {
            placed.push((place, k, part));
        }
    }
    placed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    placed.into_iter().map(|(.., part)| part).collect()
}

/// Multiples of the golden ratio are far from each other.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_its_share_of_each_class() {
        // 70 % of class 0, 25 % of class 1, 5 % of class 2, two rows of class 3, one of class 4
        let of: Vec<usize> = (0..1003)
            .map(|i| match i {
                500 | 700 => 3,
                900 => 4,
                _ if i % 20 == 0 => 2,
                _ => usize::from(i % 4 == 1),
            })
            .collect();
        let parts: Vec<Vec<usize>> = (0..1003).map(|row| vec![row]).collect();
        let dealt: Vec<usize> = stratified(parts, &of).concat();
        assert_eq!(dealt.len(), 1002, "the only row of a class is not dealt");
        assert!(!dealt.contains(&900));
        let count = |rows: &[usize], k: usize| rows.iter().filter(|&&row| of[row] == k).count();
        for run in dealt.chunks(200).take(5) {
            for k in 0..3 {
                let share = 200.0 * count(&dealt, k) as f64 / 1002.0;
                assert!((count(run, k) as f64 - share).abs() <= 2.0, "class {k}: {share}");
            }
            assert!(count(run, 3) <= 1);
        }
    }

    #[test]
    fn copies_stay_together_and_lonely_rows_are_fitted() {
        let of = [0, 0, 0, 1, 1, 1, 2];
        let parts = vec![vec![0], vec![3, 4], vec![1, 2], vec![5], vec![6]];
        let dealt = stratified(parts, &of);
        assert!(dealt.contains(&vec![3, 4]) && dealt.contains(&vec![1, 2]) && dealt.len() == 4);
        // nothing to compare otherwise
        assert_eq!(stratified(vec![vec![0], vec![1]], &[0, 1]).len(), 2);
    }
}
