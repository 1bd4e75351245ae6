-- Stores the head of a run.
INSERT INTO plan_runs VALUES (
    $run_id, $computed_us, $from_us, $to_us, $zone, $price_book, $before_pusd, $joint_pusd, $potential_pusd, $result,
    $games
)
