-- The prompts of layout_parts as the temporary table layout_prompts(request_key, scope_id, prompt_bytes, prompt_weight,
-- tools_to, zone_from, zone_to, zone_is_system 0 or 1): the last tool's position, and
-- the positions of the system parts, or of the first user part where there is no system part. The zone is what a rewrite may
-- reorder: conversations keep their order, tools come first anyway.
CREATE OR REPLACE TEMPORARY TABLE layout_prompts AS
SELECT request_key, scope_id, prompt_bytes, prompt_weight, tools_to,
       coalesce(system_from, user_from) AS zone_from,
       coalesce(system_to, user_from) AS zone_to,
       CASE WHEN system_from IS NULL THEN 0 ELSE 1 END AS zone_is_system
FROM (
    SELECT request_key, scope_id, max(bytes_upto) AS prompt_bytes, max(weight_upto) AS prompt_weight,
           max(CASE WHEN role = 'tools' AND part = 1 THEN pos END) AS tools_to,
           min(CASE WHEN role = 'system' AND part = 1 THEN pos END) AS system_from,
           max(CASE WHEN role = 'system' AND part = 1 THEN pos END) AS system_to,
           min(CASE WHEN role = 'user' AND part = 1 THEN pos END) AS user_from
    FROM layout_parts
    GROUP BY request_key, scope_id
) AS spans
