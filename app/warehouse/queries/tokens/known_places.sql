-- Places inside the prompts of measured_prompts whose tokens the provider billed, as the temporary table
-- known_places(request_key, checked, pos, tokens), each different prefix once:
--   inner   the place where another prompt ended, which was billed alone
--   cached  the deepest prefix that at least 3 different prompts share and for which all of them had the same number of tokens
--           read or written; not where that is a whole number of 128 tokens, which some providers round to
CREATE OR REPLACE TEMPORARY TABLE known_places AS
WITH places AS (
    SELECT p.request_key AS request_key, g.pos AS pos, g.chain_hash AS chain_hash, p.chain_hash AS whole_chain,
           p.cached AS cached
    FROM measured_prompts AS p
    JOIN segments AS g ON g.request_key = p.request_key AND g.is_boundary
),
inside AS (
    SELECT i.request_key AS request_key, i.pos AS pos, a.tokens AS tokens,
           row_number() OVER (PARTITION BY i.chain_hash ORDER BY i.request_key) AS copy
    FROM places AS i
    JOIN measured_prompts AS a ON a.chain_hash = i.chain_hash AND a.request_key <> i.request_key
),
same AS (
    SELECT chain_hash, max(cached) AS tokens
    FROM places
    WHERE chain_hash <> whole_chain AND cached > 0
    GROUP BY chain_hash
    HAVING count(*) >= 3 AND min(cached) = max(cached) AND max(cached) % 128 <> 0
),
deepest AS (
    SELECT p.request_key AS request_key, p.pos AS pos, p.chain_hash AS chain_hash, s.tokens AS tokens,
           row_number() OVER (PARTITION BY p.request_key ORDER BY p.pos DESC) AS depth
    FROM places AS p
    JOIN same AS s ON s.chain_hash = p.chain_hash
),
read AS (
    SELECT request_key, pos, tokens, row_number() OVER (PARTITION BY chain_hash ORDER BY request_key) AS copy
    FROM deepest
    WHERE depth = 1
)
SELECT request_key, 'inner' AS checked, pos, tokens FROM inside WHERE copy = 1
UNION ALL
SELECT request_key, 'cached' AS checked, pos, tokens FROM read WHERE copy = 1
